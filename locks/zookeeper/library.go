package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/locktest/locktest/locks"
)

// Library is zookeeper/library: the Lock of go-zookeeper, as people use it. It can neither try nor be told to stop, so each
// acquire has a session of its own, and after a wait in vain the node is taken away under the library's hands. The token is the czxid of the holder's node.
type Library struct{ options Options }

// NewLibrary makes the provider.
func NewLibrary(o Options) *Library { return &Library{o} }

// Claims of sessions of ttl, of which a server grants at least two ticks.
func (l *Library) Claims(ttl time.Duration) locks.Claims { return NewEphemeral(l.options).Claims(ttl) }

// Open makes a client of all servers. Nothing is dialed before the first acquire.
func (l *Library) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	if len(t.Addrs) == 0 {
		return nil, errors.New("zookeeper/library: no address")
	}
	return &libraryClient{client: client{target: t, options: l.options}, all: map[*session]struct{}{}}, nil
}

type libraryClient struct {
	client client // for its settings

	mu     sync.Mutex
	idle   []*session
	all    map[*session]struct{}
	closed bool
}

// Close drops the connections and sends no word; see client.Close.
func (c *libraryClient) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for s := range c.all {
		s.end()
	}
	c.all, c.idle = map[*session]struct{}{}, nil
	return nil
}

func (c *libraryClient) take(ctx context.Context, ttl time.Duration) (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, fmt.Errorf("%w: %w", locks.ErrUnavailable, locks.ErrClosed)
	}
	for len(c.idle) > 0 {
		s := c.idle[len(c.idle)-1]
		c.idle = c.idle[:len(c.idle)-1]
		if s.ttl == ttl && !s.isLost() {
			return s, nil
		}
		delete(c.all, s)
		s.end()
	}
	ctx, cancel := context.WithTimeout(ctx, max(ttl, time.Second))
	defer cancel()
	s, err := newSession(ctx, c.client.target, ttl)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrUnavailable, err)
	}
	c.all[s] = struct{}{}
	return s, nil
}

func (c *libraryClient) give(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ours := c.all[s]; ours {
		c.idle = append(c.idle, s)
	}
}

// drop ends a session without a word: the servers do so when its time is over.
func (c *libraryClient) drop(s *session) {
	c.mu.Lock()
	delete(c.all, s)
	c.mu.Unlock()
	s.end()
}

// Acquire has the library wait, and takes its node away if that is in vain.
func (c *libraryClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	s, err := c.take(ctx, r.TTL)
	if err != nil {
		return nil, err
	}
	g := &borrowed{client: c, session: s, dir: Dir(r.Name), owner: c.client.target.Owner(), timeout: c.client.timeout(r.TTL)}
	g.lock = zk.NewLock(s.conn, g.dir, zk.WorldACL(zk.PermAll))
	if r.Wait <= 0 {
		names, err := g.names(ctx)
		if err != nil {
			return g, err
		}
		if len(names) > 0 {
			c.give(s)
			return nil, locks.ErrHeld
		}
	}
	err = s.do(ctx, max(r.Wait, g.timeout), func(*zk.Conn) error { return g.lock.Lock() })
	switch {
	case errors.Is(err, errTimeout), err != nil && ctx.Err() != nil:
		return g.abandon(ctx)
	case err != nil:
		return g, err
	}
	return g, g.hold(ctx)
}

// borrowed is one acquire, and the session that it has for itself.
type borrowed struct {
	client  *libraryClient
	session *session
	lock    *zk.Lock
	dir     string
	owner   string
	token   locks.Token
	timeout time.Duration
	over    bool
}

func (g *borrowed) Owner() string         { return g.owner }
func (g *borrowed) Token() locks.Token    { return g.token }
func (g *borrowed) TTL() time.Duration    { return g.session.granted() }
func (g *borrowed) ValidUntil() time.Time { return time.Time{} }
func (g *borrowed) Lost() <-chan struct{} { return g.session.lost }

func (g *borrowed) names(ctx context.Context) ([]string, error) {
	names, err := ask(ctx, g.session, g.timeout, func(c *zk.Conn) ([]string, error) {
		if _, err := c.Sync(g.dir); err != nil { // a follower may not have heard of the last release
			return nil, err
		}
		names, _, err := c.Children(g.dir)
		return names, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	return names, err
}

// hold takes the token of the holder's node, which is this session's.
func (g *borrowed) hold(ctx context.Context) error {
	_, stat, err := g.node(ctx)
	switch {
	case err != nil:
		return err
	case stat == nil || g.session.isLost():
		return errGone
	}
	g.token = locks.Token(stat.Czxid)
	return nil
}

// node looks for this session's node; a nil stat: there is none.
func (g *borrowed) node(ctx context.Context) (path string, stat *zk.Stat, err error) {
	names, err := g.names(ctx)
	for i := 0; err == nil && i < len(names); i++ {
		path = g.dir + "/" + names[i]
		stat, err = ask(ctx, g.session, g.timeout, func(c *zk.Conn) (*zk.Stat, error) {
			there, stat, err := c.Exists(path)
			if !there {
				return nil, err
			}
			return stat, err
		})
		if err == nil && stat != nil && stat.EphemeralOwner == g.session.conn.SessionID() {
			return path, stat, nil
		}
	}
	return "", nil, err
}

// abandon takes the node away after a wait in vain. Where none is seen, one may yet be made, and only the session's end is
// certain to take that away.
func (g *borrowed) abandon(ctx context.Context) (locks.Lock, error) {
	ctx, cancel := context.WithTimeout(locks.Cleanup(ctx), 2*g.timeout)
	defer cancel()
	path, stat, err := g.node(ctx)
	if err == nil && stat != nil {
		err = g.session.do(ctx, g.timeout, func(c *zk.Conn) error { return c.Delete(path, -1) })
		if err == nil || errors.Is(err, zk.ErrNoNode) {
			g.client.give(g.session)
			return nil, locks.ErrHeld
		}
	}
	g.client.drop(g.session)
	return g, errors.New("the wait is over, and whether its node was made is not known")
}

// Release unlocks. Where the library doesn't know that it holds, only the end of the session's time says that it doesn't.
func (g *borrowed) Release(ctx context.Context) error {
	switch {
	case g.over:
		return locks.ErrNotHeld
	case g.token == 0:
		g.client.drop(g.session)
		if left := time.Until(g.session.deadline()); left > 0 {
			return fmt.Errorf("its session can last for %v more", left.Round(time.Millisecond))
		}
		return g.end(locks.ErrNotHeld)
	case g.session.isLost():
		return g.end(locks.ErrNotHeld)
	}
	err := g.session.do(ctx, g.timeout, func(*zk.Conn) error { return g.lock.Unlock() })
	switch {
	case err == nil:
		g.client.give(g.session)
		return g.end(nil)
	case errors.Is(err, zk.ErrNoNode), errors.Is(err, zk.ErrNotLocked), errors.Is(err, zk.ErrSessionExpired), g.session.isLost():
		return g.end(locks.ErrNotHeld)
	}
	return err
}

// end keeps another release from being sent.
func (g *borrowed) end(err error) error {
	g.over = true
	return err
}
