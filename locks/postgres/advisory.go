// Package postgres holds locks in PostgreSQL, and how a server is started. It knows how a lock is taken and kept; what
// happens to servers and links meanwhile is not its business.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// Advisory is postgres/advisory: a session-level advisory lock (PostgreSQL documentation, "Advisory Locks"). Each hold has a
// connection of its own, and lasts until that connection's session unlocks or ends. A waiter waits at the server.
//
// Advisory locks live in the memory of one server: no replica knows of them.
type Advisory struct {
	options Options
	how     strategy
}

// NewAdvisory makes the provider.
func NewAdvisory(o Options) *Advisory { return &Advisory{o, sessionLevel} }

// Claims don't depend on ttl: there is no lease. An unlock says whether the session held the lock until then. The loss that
// is told is a connection that ends; one that is only silent isn't noticed.
func (a *Advisory) Claims(time.Duration) locks.Claims {
	c := locks.Claims{Expiry: history.Session, Tokens: history.NoTokens, OwnerChecked: true, ReleaseHeld: true, TellsLoss: true,
		Blocking: true, Distributed: true, Shared: a.how.shared}
	if a.how.token {
		c.Tokens = history.PerGrant
	}
	return c
}

// Open makes a client. Where there are several addresses, each connection goes to the first of them that takes writes, so
// that clients follow a failover. Nothing is dialed before the first acquire.
func (a *Advisory) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	c, err := a.options.open(a.how.name, t)
	if err != nil {
		return nil, err
	}
	c.how = a.how
	return c, nil
}

// open makes a client of the lock of that name.
func (o Options) open(name string, t locks.Target) (*client, error) {
	if len(t.Addrs) == 0 {
		return nil, errors.New(name + ": no address")
	}
	var err error
	if t.Addrs, err = o.chosen(t.Addrs); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &client{target: t, options: o.withDefaults(), sessions: map[*session]struct{}{}}, nil
}

// Key is the number by which PostgreSQL knows the lock of that name: its 64-bit FNV-1a hash. Two names with the same hash
// would be one lock; among a million names the chance of that is below 1 in 10⁷.
func Key(name string) int64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return int64(h.Sum64())
}

// client keeps the sessions that no hold needs, for the next ones.
type client struct {
	target  locks.Target
	options Options
	how     strategy // of locks that a session holds

	mu       sync.Mutex
	closed   bool
	sessions map[*session]struct{} // all that are connected
	idle     []*session
}

// Acquire waits at the server, up to r.Wait.
func (c *client) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	s, err := c.take(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrUnavailable, err)
	}
	g := newGrant(c, s, r)
	limited, cancel := context.WithTimeout(ctx, r.Wait+c.options.Timeout)
	defer cancel()
	granted, err := s.lock(limited, c.how, g)
	switch {
	case err == nil && granted:
		g.watch()
		return g, nil
	case err == nil:
		c.give(s)
		return nil, locks.ErrHeld
	case pgconn.SafeToRetry(err):
		c.drop(s)
		return nil, fmt.Errorf("%w: %w", locks.ErrUnavailable, err)
	}
	c.drop(s)
	return g, fmt.Errorf("ask for the lock: %w", err)
}

// Close ends every session, and with it what it holds: so it is when a client's process ends.
func (c *client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for s := range c.sessions {
		s.cut()
	}
	c.sessions, c.idle = map[*session]struct{}{}, nil
	return nil
}

// take returns a session that nothing else uses: an idle one that lives, or a new one.
func (c *client) take(ctx context.Context) (*session, error) {
	for s := c.pop(); s != nil; s = c.pop() {
		if s.alive() {
			return s, nil
		}
		c.drop(s)
	}
	s, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		s.close()
		return nil, locks.ErrClosed
	}
	c.sessions[s] = struct{}{}
	return s, nil
}

func (c *client) pop() *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.idle) == 0 {
		return nil
	}
	s := c.idle[len(c.idle)-1]
	c.idle = c.idle[:len(c.idle)-1]
	return s
}

// give keeps a session that holds nothing for the next acquire.
func (c *client) give(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ours := c.sessions[s]; ours && !s.conn.IsClosed() {
		c.idle = append(c.idle, s)
	}
}

// drop closes a session's connection. What the server makes of that is known to nobody here.
func (c *client) drop(s *session) {
	c.mu.Lock()
	delete(c.sessions, s)
	c.mu.Unlock()
	s.close()
}
