// Package zookeeper holds a lock in ZooKeeper: ephemeral, a queue of ephemeral sequential nodes, whose first is the holder's.
// It knows how the lock is taken and kept, and how the server is run; what happens to servers and links meanwhile is not its
// business.
package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// Ephemeral is zookeeper/ephemeral, the recipe "Locks" of ZooKeeper's documentation: who has the node with the lowest number
// holds, and everybody else watches the node before its own. The token is the node's czxid, which rises with every change in
// the whole store. Nodes are made under names of their own, so that one whose reply was lost is found again.
//
// A client has one session, and loses every lock with it. It tells so when the server says that the session has expired, and
// by its own clock when nothing that it sent within a session's time was answered. That is no proof that the session has not
// ended before: a server that is cut off from the leader answers for a while, so that nothing is said of validity.
type Ephemeral struct {
	options Options
	recipe  recipe
}

// NewEphemeral makes the provider.
func NewEphemeral(o Options) *Ephemeral { return &Ephemeral{o, mutex} }

// Claims of sessions of ttl, of which a server grants at least two ticks.
func (e *Ephemeral) Claims(ttl time.Duration) locks.Claims {
	c := locks.Claims{Expiry: history.Session, TTL: ttl, Tokens: history.PerGrant, OwnerChecked: true, ReleaseHeld: true, TellsLoss: true,
		Blocking: true, Distributed: true}
	if e.recipe.claims != nil {
		e.recipe.claims(&c)
	}
	return c
}

// Open makes a client of all servers, connected to one at a time. Nothing is dialed before the first acquire, whose TTL
// becomes the session's.
func (e *Ephemeral) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	if len(t.Addrs) == 0 {
		return nil, errors.New(e.recipe.name + ": no address")
	}
	return &client{target: t, options: e.options, recipe: e.recipe}, nil
}

type client struct {
	target  locks.Target
	options Options
	recipe  recipe

	mu      sync.Mutex
	session *session // the one that new grants belong to
	closed  bool
}

// Close drops the connection and sends no word: the server ends the session when it has heard nothing of it for its time.
func (c *client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.session != nil {
		c.session.end()
	}
	return nil
}

// Acquire queues up, and leaves the queue when the wait is over.
func (c *client) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	deadline := time.Now().Add(r.Wait)
	s, err := c.open(ctx, r.TTL)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrUnavailable, err)
	}
	g := &grant{session: s, recipe: c.recipe, node: c.recipe.node(r), dir: Dir(r.Name), owner: c.target.Owner(), timeout: c.timeout(r.TTL)}
	if err := g.enqueue(ctx); err != nil {
		return g, err
	}
	for {
		before, err := g.before(ctx)
		switch {
		case err != nil:
			return g, err
		case before == "":
			return g, g.take(ctx)
		case !g.await(ctx, before, deadline):
			return g.giveUp(ctx)
		}
	}
}

// open returns the session, a new one where there is none or the last has ended.
func (c *client) open(ctx context.Context, ttl time.Duration) (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, locks.ErrClosed
	}
	if c.session != nil && c.session.ttl == ttl && !c.session.isLost() {
		return c.session, nil
	}
	if c.session != nil {
		c.session.end()
		c.session = nil
	}
	ctx, cancel := context.WithTimeout(ctx, max(ttl, time.Second))
	defer cancel()
	s, err := newSession(ctx, c.target, ttl)
	if err != nil {
		return nil, err
	}
	c.session = s
	return s, nil
}

// timeout is how long one request may take: less than a session's time, so that what had no answer can be tried again.
func (c *client) timeout(ttl time.Duration) time.Duration {
	if c.options.Timeout > 0 {
		return c.options.Timeout
	}
	return ttl / 2
}

// Dir is where the queue of the lock of that name is.
func Dir(name string) string { return root + "/" + name }

const root = "/locktest"

// grant is a place in the queue, and a lock once it is the first.
type grant struct {
	session *session
	recipe  recipe
	node    string // its name between the owner and the number
	dir     string
	owner   string
	path    string // of the node; empty until the server has answered
	token   locks.Token
	timeout time.Duration
}

func (g *grant) Owner() string         { return g.owner }
func (g *grant) Token() locks.Token    { return g.token }
func (g *grant) TTL() time.Duration    { return g.session.granted() }
func (g *grant) ValidUntil() time.Time { return time.Time{} }
func (g *grant) Lost() <-chan struct{} { return g.session.lost }

// take makes the first in the queue the holder. It looks at the node once more: its session may have ended meanwhile.
func (g *grant) take(ctx context.Context) error {
	var there bool
	var stat *zk.Stat
	err := g.do(ctx, func(c *zk.Conn) (err error) {
		there, stat, err = c.Exists(g.path)
		return err
	})
	switch {
	case err != nil:
		return err
	case !there || g.session.isLost():
		return errGone
	}
	g.token = locks.Token(stat.Czxid)
	return nil
}

// giveUp leaves the queue. Where that is unknown the lock may yet be granted, and the caller gets the means to clean up.
func (g *grant) giveUp(ctx context.Context) (locks.Lock, error) {
	ctx, cancel := context.WithTimeout(locks.Cleanup(ctx), 2*g.timeout)
	defer cancel()
	err := g.Release(ctx)
	if err == nil || errors.Is(err, locks.ErrNotHeld) {
		return nil, locks.ErrHeld
	}
	return g, fmt.Errorf("leave the queue: %w", err)
}

// Release deletes the node, which nobody else has. A node whose name never came is looked for first.
func (g *grant) Release(ctx context.Context) error {
	if g.session.isLost() {
		return locks.ErrNotHeld // the server takes the node away with the session
	}
	path := g.path
	if path == "" {
		found, err := g.find(ctx)
		if err != nil {
			return g.orLost(err)
		}
		if found == "" {
			return locks.ErrNotHeld
		}
		path = found
	}
	err := g.do(ctx, func(c *zk.Conn) error { return c.Delete(path, -1) })
	if errors.Is(err, zk.ErrNoNode) {
		return locks.ErrNotHeld
	}
	return g.orLost(err)
}

// orLost makes an error definite where the session has ended.
func (g *grant) orLost(err error) error {
	if err != nil && (errors.Is(err, zk.ErrSessionExpired) || g.session.isLost()) {
		return locks.ErrNotHeld
	}
	return err
}

// do runs a request, and leaves it to itself when its time is over: the library can't be told to stop.
func (g *grant) do(ctx context.Context, f func(*zk.Conn) error) error {
	return g.session.do(ctx, g.timeout, f)
}
