package broken

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// zkMistake is a lock in ZooKeeper as its author wrote it: place makes or finds the node that stands for the client.
type zkMistake struct {
	place func(g *zkGrant) error
}

// Claims of sessions of ttl.
func (m *zkMistake) Claims(ttl time.Duration) locks.Claims {
	return locks.Claims{Expiry: history.Session, TTL: ttl, Tokens: history.NoTokens, Blocking: true, Distributed: true}
}

// Open makes a client of all servers.
func (m *zkMistake) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	if len(t.Addrs) == 0 {
		return nil, errors.New("no address")
	}
	return &zkClient{zkMistake: m, target: t}, nil
}

type zkClient struct {
	*zkMistake
	target locks.Target

	mu     sync.Mutex
	conn   *zk.Conn
	closed atomic.Bool
}

// Close drops the connection without the library's farewell, which would end the session: it ends by itself.
func (c *zkClient) Close() error {
	c.closed.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		c.conn.Close()
	}
	return nil
}

// silent takes what the library would print.
type silent struct{}

func (silent) Printf(string, ...any) {}

// mortal is a connection that says nothing more once its client is closed.
type mortal struct {
	net.Conn
	client *zkClient
}

func (m mortal) Write(b []byte) (int, error) {
	if m.client.closed.Load() {
		m.Conn.Close()
		return 0, net.ErrClosed
	}
	return m.Conn.Write(b)
}

func (c *zkClient) connect(ttl time.Duration) (*zk.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Load() {
		return nil, locks.ErrClosed
	}
	if c.conn != nil {
		return c.conn, nil
	}
	dial := c.target.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	conn, _, err := zk.Connect(c.target.Addrs, ttl, zk.WithLogger(silent{}), zk.WithLogInfo(false), zk.WithDialer(func(network, addr string, limit time.Duration) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if c.closed.Load() {
			return nil, net.ErrClosed
		}
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return mortal{conn, c}, nil
	}))
	c.conn = conn
	return conn, err
}

// Acquire asks again every 20 ms whether its node is the first.
func (c *zkClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	conn, err := c.connect(r.TTL)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrUnavailable, err)
	}
	g := &zkGrant{conn: conn, client: c.target.Client, dir: "/locktest/" + r.Name, owner: c.target.Owner()}
	deadline := time.Now().Add(r.Wait)
	if err := within(r.TTL, func() error { return c.place(g) }); err != nil {
		return nil, locks.ErrHeld // "it didn't work, so it wasn't got"
	}
	for {
		first := false
		err := within(r.TTL, func() (err error) { first, err = g.first(); return err })
		switch {
		case err == nil && first:
			return g, nil
		case !time.Now().Before(deadline) || ctx.Err() != nil:
			if err := g.Release(ctx); err != nil {
				return g, err
			}
			return nil, locks.ErrHeld
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// within gives f up after limit: the library can't be told to stop.
func within(limit time.Duration, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		return errors.New("no answer in time")
	}
}

type zkGrant struct {
	conn   *zk.Conn
	client string
	dir    string
	owner  string
	path   string
}

func (g *zkGrant) Owner() string         { return g.owner }
func (g *zkGrant) Token() locks.Token    { return 0 }
func (g *zkGrant) TTL() time.Duration    { return 0 }
func (g *zkGrant) ValidUntil() time.Time { return time.Time{} }
func (g *zkGrant) Lost() <-chan struct{} { return nil }

// create makes a node, and the directories before the first one.
func (g *zkGrant) create(name string) (err error) {
	for range 2 {
		if g.path, err = g.conn.Create(g.dir+"/"+name, nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll)); !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		for _, dir := range []string{"/locktest", g.dir} {
			if _, err := g.conn.Create(dir, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
				return err
			}
		}
	}
	return err
}

func (g *zkGrant) queue() ([]string, error) {
	names, _, err := g.conn.Children(g.dir)
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(a[len(a)-10:], b[len(b)-10:]) })
	return names, err
}

func (g *zkGrant) first() (bool, error) {
	names, err := g.queue()
	return err == nil && len(names) > 0 && g.dir+"/"+names[0] == g.path, err
}

// Release deletes the node.
func (g *zkGrant) Release(context.Context) error {
	err := within(time.Second, func() error { return g.conn.Delete(g.path, -1) })
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}
