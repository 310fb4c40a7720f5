package lockstest

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/locktest/locktest/locks"
)

// gate cuts a client's connections: while it is shut, what is written is swallowed, and nothing comes back.
type gate struct {
	shut   atomic.Bool
	dialed atomic.Int64

	mu      sync.Mutex
	conns   []net.Conn
	severed bool
}

// sever ends every connection for good: a session that outlives its connection gets no other.
func (g *gate) sever() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.severed = true
	for _, c := range g.conns {
		c.Close()
	}
	g.conns = nil
}

func (g *gate) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	g.dialed.Add(1)
	c, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.severed {
		c.Close()
		return nil, net.ErrClosed
	}
	g.conns = append(g.conns, c)
	return &gated{c, g}, nil
}

type gated struct {
	net.Conn
	gate *gate
}

func (c *gated) Write(b []byte) (int, error) {
	if c.gate.shut.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func unreachable(t *testing.T, b *bench) {
	if len(b.kit.Addrs) == 0 || b.claims.NonExclusive { // what is no lock leaves nothing behind
		return
	}
	c := b.user("c1")
	b.release(b.acquire(c, 0)) // connected
	c.gate.shut.Store(true)
	l, err := c.Acquire(b.context(), b.request(0))
	if err == nil || errors.Is(err, locks.ErrHeld) || errors.Is(err, locks.ErrUnavailable) {
		t.Errorf("acquire without a reply: %v, want an indefinite error", err)
	}
	if l == nil {
		t.Error("acquire without a reply: no handle to clean up by")
	}
}

func unknownAcquire(t *testing.T, b *bench) {
	if len(b.kit.Addrs) == 0 || b.claims.NonExclusive { // what is no lock leaves nothing behind
		return
	}
	c := b.user("c1")
	b.release(b.acquire(c, 0))
	c.gate.shut.Store(true)
	l, err := c.Acquire(b.context(), b.request(0))
	if l == nil || locks.Definite(err) {
		t.Fatalf("acquire without a reply: %v, %v", l, err)
	}
	c.gate.shut.Store(false)
	b.settle(l)
	b.release(b.acquire(b.user("c2"), b.kit.TTL))
}

func releaseAgain(t *testing.T, b *bench) {
	if len(b.kit.Addrs) == 0 || b.claims.NonExclusive { // what is no lock leaves nothing behind
		return
	}
	c := b.user("c1")
	l := b.acquire(c, 0)
	c.gate.shut.Store(true)
	if err := l.Release(b.context()); err == nil || errors.Is(err, locks.ErrNotHeld) {
		t.Errorf("release without a reply: %v, want an indefinite error", err)
	}
	c.gate.shut.Store(false)
	b.settle(l)
	b.release(b.acquire(b.user("c2"), b.kit.TTL))
}

// settle releases until the answer is definite, which it has to be once the service is reached again.
func (b *bench) settle(l locks.Lock) {
	b.t.Helper()
	ctx := b.context()
	for {
		err := l.Release(ctx)
		if err == nil || errors.Is(err, locks.ErrNotHeld) {
			return
		}
		if ctx.Err() != nil {
			b.t.Fatalf("release, again and again: %v, want a definite answer", err)
		}
	}
}
