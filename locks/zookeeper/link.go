package zookeeper

import (
	"context"
	"encoding/binary"
	"net"
	"sync"
	"time"
)

// link is a connection to a server that sees what the library doesn't tell: when a request was sent that has an answer.
// Servers answer in the order of the requests; what they tell by themselves is no answer.
type link struct {
	net.Conn
	session *session
	frames  frames

	mu    sync.Mutex
	sent  []time.Time // of requests without an answer
	muted bool
}

// pauseAfterError keeps a client whose servers are all down from dialing without a pause.
const pauseAfterError = 50 * time.Millisecond

// connect is the library's dialer.
func (s *session) connect(network, addr string, _ time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.patience())
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-s.stop:
			cancel()
		case <-stop:
		}
	}()
	conn, err := s.dial(ctx, network, addr)
	if err != nil {
		select {
		case <-time.After(pauseAfterError):
		case <-s.stop:
		}
		return nil, err
	}
	l := &link{Conn: conn, session: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		conn.Close()
		return nil, net.ErrClosed
	}
	s.link = l
	return l, nil
}

// patience is how long a server may be silent, which the library sets to two thirds of a session, but not for the first
// answer of a connection: it would wait there for many sessions' time.
func (s *session) patience() time.Duration { return s.ttl * 2 / 3 }

// SetReadDeadline sets no later one than the session's patience allows.
func (l *link) SetReadDeadline(t time.Time) error {
	if last := time.Now().Add(l.session.patience()); !t.IsZero() && t.After(last) {
		t = last
	}
	return l.Conn.SetReadDeadline(t)
}

// Write sends one request: the library writes each as a whole.
func (l *link) Write(b []byte) (int, error) {
	l.mu.Lock()
	if l.muted {
		l.mu.Unlock()
		return 0, net.ErrClosed
	}
	l.sent = append(l.sent, time.Now())
	l.mu.Unlock()
	return l.Conn.Write(b)
}

func (l *link) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	l.frames.feed(b[:n], l.greeted, l.answered)
	return n, err
}

// mute ends the connection. The library's own way would be to say good-bye first, which ends the session at once.
func (l *link) mute() {
	l.mu.Lock()
	l.muted = true
	l.mu.Unlock()
	l.Conn.Close()
}

func (l *link) greeted(timeout time.Duration) {
	l.session.greeted(timeout)
	l.answered()
}

func (l *link) answered() {
	l.mu.Lock()
	if len(l.sent) == 0 {
		l.mu.Unlock()
		return
	}
	sent := l.sent[0]
	l.sent = l.sent[1:]
	l.mu.Unlock()
	l.session.heard(sent)
}

// frames reads what a server sends: each frame is its length and so many bytes. The first is the greeting, with the session's
// time after a version; each other begins with the number of the request that it answers, or with -1.
type frames struct {
	head    [12]byte
	have    int
	skip    int // bytes of the frame that are still to come
	greeted bool
}

// event is the number of what answers no request.
const event = -1

func (f *frames) feed(b []byte, greeted func(time.Duration), answered func()) {
	for len(b) > 0 {
		if f.skip > 0 {
			n := min(f.skip, len(b))
			f.skip, b = f.skip-n, b[n:]
			continue
		}
		n := copy(f.head[f.have:], b)
		f.have, b = f.have+n, b[n:]
		if f.have < len(f.head) {
			return
		}
		f.have, f.skip = 0, max(0, int(int32(binary.BigEndian.Uint32(f.head[:4])))-8)
		switch {
		case !f.greeted:
			f.greeted = true
			greeted(time.Duration(int32(binary.BigEndian.Uint32(f.head[8:]))) * time.Millisecond)
		case int32(binary.BigEndian.Uint32(f.head[4:8])) != event:
			answered()
		}
	}
}

// servers are tried in turn. The library's own list asks for names, and sleeps for a second after each round, which may be a
// session's whole time. After a round it also looks whether it was closed, and nowhere else, so that the round ends then.
type servers struct {
	addrs []string
	stop  <-chan struct{}

	mu sync.Mutex
	at int
}

func (s *servers) Init([]string) error { return nil }
func (s *servers) Len() int            { return len(s.addrs) }
func (s *servers) Connected()          {}

func (s *servers) Next() (server string, retryStart bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = (s.at + 1) % len(s.addrs)
	select {
	case <-s.stop:
		return s.addrs[s.at], true
	default:
		return s.addrs[s.at], false
	}
}

// silent takes what the library would print.
type silent struct{}

func (silent) Printf(string, ...any) {}
