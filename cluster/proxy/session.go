package proxy

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/Shopify/toxiproxy/v2/stream"

	"github.com/locktest/locktest/cluster"
)

// session is one connection of a client, and the one to the node that belongs to it.
type session struct {
	pair   *pair
	name   string
	client *net.TCPConn
	doomed bool // bytes were lost; guarded by the pair's lock
	tap    *tap // nil where messages aren't told apart
	done   chan struct{}

	mu     sync.Mutex
	node   *net.TCPConn // nil until it was dialed
	halves int          // directions that have come to their end
	over   bool
}

func newSession(p *pair, number int, client *net.TCPConn) *session {
	return &session{pair: p, name: fmt.Sprintf("%d", number), client: client, tap: newTap(p.protocol), done: make(chan struct{})}
}

// run dials the node once the client can reach it, so that behind a held link the node sees no connection before it heals.
func (s *session) run() {
	if !s.awaitPass() {
		s.pair.forget(s)
		return
	}
	node, err := s.dial()
	if err != nil || !s.join(node) {
		s.reset()
		s.pair.forget(s)
		return
	}
	s.pair.link(s)
}

// reset ends both connections at once: their peers see a reset, and what is under way is lost. It may be called twice.
func (s *session) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	s.over = true
	close(s.done)
	for _, c := range []*net.TCPConn{s.client, s.node} {
		if c != nil {
			c.SetLinger(0)
			c.Close()
		}
	}
}

func (s *session) awaitPass() bool {
	for {
		now := s.pair.up.get()
		if now.Mode == cluster.Pass {
			return true
		}
		select {
		case <-now.over:
		case <-s.done:
			return false
		}
	}
}

func (s *session) dial() (*net.TCPConn, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	finished := make(chan struct{})
	defer close(finished)
	go func() {
		select {
		case <-s.done:
			cancel()
		case <-finished:
		}
	}()
	conn, err := dialPatiently(ctx, s.pair.upstream(), s.pair.patience)
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), nil
}

func (s *session) join(node *net.TCPConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		node.Close()
		return false
	}
	s.node = node
	return true
}

// link has toxiproxy carry both directions of a session.
func (p *pair) link(s *session) {
	p.linking.Lock()
	defer p.linking.Unlock()
	p.gateUp.next, p.gateDown.next = s, s
	to := &half{s, s.client, s.node, p.rewriteUp, newFrames(s, s.client, true)}
	from := &half{s, s.node, s.client, p.rewriteDown, newFrames(s, s.node, false)}
	p.proxy.Toxics.StartLink(p.server, s.name+"upstream", to, to, stream.Upstream)
	p.proxy.Toxics.StartLink(p.server, s.name+"downstream", from, from, stream.Downstream)
}

// half is one direction of a session, as toxiproxy reads and writes it.
type half struct {
	session  *session
	from, to *net.TCPConn
	rewrite  rewrite
	frames   *frames // nil: bytes as they come
}

func (h *half) Read(b []byte) (int, error) {
	if h.frames != nil {
		return h.frames.read(b)
	}
	n, err := h.from.Read(b)
	h.rewrite.apply(b[:n])
	return n, err
}

// Write ends the whole session when the receiver is gone: who sends must learn it.
func (h *half) Write(b []byte) (int, error) {
	n, err := h.to.Write(b)
	if err != nil {
		h.session.reset()
	}
	return n, err
}

// Close passes the end of one direction on; the other may still have something to say. Toxiproxy calls it once.
func (h *half) Close() error {
	h.session.halfEnded(h.to)
	return nil
}

func (s *session) halfEnded(to *net.TCPConn) {
	s.mu.Lock()
	if !s.over { // an end before a reset would be taken for the peer's own
		to.CloseWrite()
	}
	s.halves++
	ended := s.halves == 2
	if ended && !s.over {
		s.over = true
		close(s.done)
		s.client.Close()
		s.node.Close()
	}
	s.mu.Unlock()
	if ended {
		s.pair.forget(s)
	}
}
