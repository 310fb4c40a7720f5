package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/ports"
	"github.com/locktest/locktest/internal/wire"
)

// pair is what one client and one node share, or two nodes: an address, two directions, and the connections. "Client" is here
// who dials, and "node" who is dialed.
type pair struct {
	addr             string // where the client dials; set once, before the first connection
	client, node     string // names, of a client's pair
	protocol         string // by which messages are told apart; empty: they aren't
	rules            atomic.Pointer[[]*rule]
	upstream         func() string // where the node listens
	peers            bool          // both are nodes
	patience         time.Duration // for a node that doesn't listen yet
	rewriteUp        rewrite
	rewriteDown      rewrite
	up, down         *valve // to the node, from the node
	gateUp, gateDown *gate
	proxy            *toxiproxy.Proxy // holds toxics and links; it never listens
	server           *toxiproxy.ApiServer
	gone             sync.WaitGroup

	linking sync.Mutex // one link is started at a time

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	sessions map[*session]struct{}
	count    int
	nodeDown bool
	closed   bool
	left     []wire.Session // of connections that are gone
}

// maker makes pairs with what they share.
type maker struct {
	server *toxiproxy.ApiServer
	chance *chance
}

func (m *maker) pair(name string, upstream func() string) (*pair, error) {
	p := &pair{
		upstream: upstream,
		up:       newValve(m.chance),
		down:     newValve(m.chance),
		server:   m.server,
		sessions: map[*session]struct{}{},
	}
	p.proxy = toxiproxy.NewProxy(m.server, name, "", "")
	var err error
	if p.gateUp, err = p.addGate("upstream", p.up); err != nil {
		return nil, err
	}
	p.gateDown, err = p.addGate("downstream", p.down)
	return p, err
}

func (p *pair) addGate(stream string, v *valve) (*gate, error) {
	text := fmt.Sprintf(`{"type":%q,"stream":%q,"attributes":{}}`, gateType, stream)
	w, err := p.proxy.Toxics.AddToxicJson(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	g, ok := w.Toxic.(*gate)
	if !ok {
		return nil, fmt.Errorf("toxiproxy made a %T of %s", w.Toxic, gateType)
	}
	g.valve = v
	return g, nil
}

// openTries is how many ports are tried: another program can take one between our look and our bind.
const openTries = 5

func (p *pair) open(alloc *ports.Allocator) error {
	var err error
	for range openTries {
		port, e := alloc.Take()
		if e != nil {
			return e
		}
		p.addr = address(port)
		if err = p.listen(context.Background()); err == nil {
			return nil
		}
	}
	return err
}

// change alters conditions and brings listener and connections in line with them.
func (p *pair) change(ctx context.Context, alter func()) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	alter()
	p.doom()
	for s := range p.sessions {
		if p.refuses() || s.doomed && !p.cut() {
			s.reset()
		}
	}
	if p.unreachable() {
		p.deafen()
		return nil
	}
	if p.listener == nil && !p.closed {
		return p.listenLocked(ctx)
	}
	return nil
}

func (p *pair) close() {
	p.mu.Lock()
	p.closed = true
	p.deafen()
	for s := range p.sessions {
		s.reset()
	}
	p.mu.Unlock()
	p.gone.Wait()
}

// refuses: a connection is made of both directions.
func (p *pair) refuses() bool {
	return p.up.mode() == cluster.Refuse || p.down.mode() == cluster.Refuse
}

// cut says that the two can't hear each other whole.
func (p *pair) cut() bool { return p.up.cut() || p.down.cut() }

// unreachable says whether a new connection is to be refused. Behind a cut link nobody can refuse it.
func (p *pair) unreachable() bool { return p.refuses() || p.nodeDown && !p.cut() }

// doom marks the connections that lose bytes now: their ends come when the link heals.
func (p *pair) doom() {
	if p.up.mode() != cluster.Drop && p.down.mode() != cluster.Drop {
		return
	}
	for s := range p.sessions {
		s.doomed = true
	}
}

func (p *pair) deafen() {
	if p.listener != nil {
		p.listener.Close()
		p.listener = nil
	}
}

func (p *pair) listen(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.listenLocked(ctx)
}

// listenLimit is how long a port of ours may be taken by somebody else's source port.
const listenLimit = 5 * time.Second

func (p *pair) listenLocked(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, listenLimit)
	defer cancel()
	for {
		l, err := net.Listen("tcp", p.addr)
		if err == nil {
			p.listener = l
			p.gone.Add(1)
			go p.accept(l)
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (p *pair) accept(l net.Listener) {
	defer p.gone.Done()
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of file descriptors, say: the client sees a slow accept
			time.Sleep(10 * time.Millisecond)
			continue
		}
		p.admit(conn.(*net.TCPConn))
	}
}

// admit starts a session, or resets a connection that came just before a change forbade it.
func (p *pair) admit(client *net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	s := newSession(p, p.count, client)
	if p.closed || p.unreachable() {
		s.reset()
		return
	}
	p.sessions[s] = struct{}{}
	p.doom()
	p.gone.Add(1)
	go s.run()
}

func (p *pair) forget(s *session) {
	p.mu.Lock()
	delete(p.sessions, s)
	p.remember(s)
	p.mu.Unlock()
	p.gone.Done()
}
