package proxy

import (
	"net"
	"slices"
	"sync"
	"time"

	"github.com/locktest/locktest/internal/wire"
)

// tap knows the messages of one connection. Both directions feed it.
type tap struct {
	mu   sync.Mutex
	conn *wire.Conn
}

// newTap returns nil where messages aren't told apart.
func newTap(protocol string) *tap {
	conn, ok := wire.New(protocol)
	if !ok {
		return nil
	}
	return &tap{conn: conn}
}

func (t *tap) feed(up bool, b []byte) []wire.Frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	if up {
		return t.conn.Up(b)
	}
	return t.conn.Down(b)
}

func (t *tap) rest(up bool) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if up {
		return t.conn.UpRest()
	}
	return t.conn.DownRest()
}

func (t *tap) sessions() []wire.Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.conn.Sessions())
}

// frames reads one direction of a session message by message, and does to each what the rules of its pair say.
type frames struct {
	session *session
	from    *net.TCPConn
	up      bool
	buffer  []byte
	waiting []wire.Frame
	ready   []byte
	meets   *rule // of the first one that waits, where it was looked at already
	end     error // after what waits
}

func newFrames(s *session, from *net.TCPConn, up bool) *frames {
	if s.tap == nil {
		return nil
	}
	return &frames{session: s, from: from, up: up, buffer: make([]byte, 32<<10)}
}

func (f *frames) read(b []byte) (int, error) {
	for len(f.ready) == 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, f.ready)
	f.ready = f.ready[n:]
	return n, nil
}

// next makes something ready, unless that was dropped or isn't whole.
func (f *frames) next() error {
	if len(f.waiting) > 0 {
		return f.admit()
	}
	if f.end != nil {
		return f.end
	}
	n, err := f.from.Read(f.buffer)
	f.waiting = f.session.tap.feed(f.up, f.buffer[:n])
	if f.end = err; err != nil {
		if rest := f.session.tap.rest(f.up); len(rest) > 0 {
			f.waiting = append(f.waiting, wire.Frame{Data: rest})
		}
	}
	return nil
}

// admit lets through what waits, up to the first message to which something is done.
func (f *frames) admit() error {
	for len(f.waiting) > 0 {
		if f.meets == nil {
			f.meets = f.session.pair.meets(f.session, f.waiting[0])
		}
		if r := f.meets; r != nil {
			if len(f.ready) > 0 {
				return nil // what came before doesn't wait with it
			}
			return f.obey(r)
		}
		f.pass()
	}
	return nil
}

func (f *frames) obey(r *rule) error {
	switch r.Deed {
	case wire.Drop:
		f.pop()
		return nil
	case wire.Reset:
		f.session.reset()
		return net.ErrClosed
	}
	var enough <-chan time.Time // never, where it is held
	if r.Deed == wire.Delay {
		timer := time.NewTimer(r.By)
		defer timer.Stop()
		enough = timer.C
	}
	select {
	case <-enough:
	case <-r.over:
	case <-f.session.done:
		return net.ErrClosed
	}
	f.pass()
	return nil
}

func (f *frames) pass() {
	f.ready = append(f.ready, f.waiting[0].Data...)
	f.pop()
}

func (f *frames) pop() {
	f.waiting, f.meets = f.waiting[1:], nil
}

// meets shows a frame to every rule, and returns the first whose deed is to be done.
func (p *pair) meets(s *session, f wire.Frame) *rule {
	var first *rule
	for _, r := range p.rulesNow() {
		if r.meets(s, f) && first == nil {
			first = r
		}
	}
	return first
}

func (p *pair) rulesNow() []*rule {
	if rules := p.rules.Load(); rules != nil {
		return *rules
	}
	return nil
}

func (p *pair) setRules(rules []*rule) { p.rules.Store(&rules) }
