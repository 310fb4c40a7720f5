// Package redis holds locks in Redis: single (one server), redlock (a majority of independent ones), replicated and sentinel (a
// primary with replicas), and how the servers are started. It knows how a lock is taken and kept; what happens to servers
// and links meanwhile is not its business.
package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/internal/redisconn"
)

// Single is redis/single: SET NX PX on one server, with an owner value of its own for each acquire, compare-and-delete,
// compare-and-expire, and a token that is counted in the step that grants.
type Single struct{ options Options }

// NewSingle makes the provider.
func NewSingle(o Options) *Single { return &Single{o} }

// Claims of leases of ttl. A release that answers OK proves that the lease had not ended: the key was still the owner's.
func (s *Single) Claims(ttl time.Duration) locks.Claims {
	return locks.Claims{Expiry: history.Lease, TTL: ttl, Tokens: history.PerGrant, OwnerChecked: true, ReleaseHeld: true,
		Validity: true, Drift: driftFactor, Distributed: true}
}

// Open makes a client of the first address. Nothing is dialed before the first acquire.
func (s *Single) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	if len(t.Addrs) == 0 {
		return nil, errors.New("redis/single: no address")
	}
	return &singleClient{target: t, options: s.options, conns: map[time.Duration]*redis.Client{}}, nil
}

type singleClient struct {
	target  locks.Target
	options Options

	mu    sync.Mutex
	conns map[time.Duration]*redis.Client // by command timeout
}

func (c *singleClient) conn(ttl time.Duration) *redis.Client {
	timeout := c.options.Timeout
	if timeout == 0 {
		timeout = max(ttl, 50*time.Millisecond)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns[timeout] == nil {
		c.conns[timeout] = redisconn.Open(c.target, c.target.Addrs[0], timeout)
	}
	return c.conns[timeout]
}

func (c *singleClient) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, conn := range c.conns {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}

// Acquire polls, since Redis tells no one that a key is gone.
func (c *singleClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	return poll(ctx, r, c.target.Rand, cmp.Or(c.options.Retry, 10*time.Millisecond), c.try)
}

// try sends one SET NX PX. Whatever is unknown comes with the lock to clean up by.
func (c *singleClient) try(ctx context.Context, r locks.Request) (locks.Lock, error) {
	g := &single{conn: c.conn(r.TTL), key: Key(r.Name), owner: newOwner(c.target), ttl: r.TTL}
	sent := time.Now()
	token, err := acquireScript.Run(ctx, g.conn, []string{g.key, TokenKey(r.Name)}, g.owner, millis(r.TTL)).Int64()
	if errors.Is(err, redis.Nil) {
		return nil, locks.ErrHeld
	}
	if err := redisconn.Classify(err); err != nil {
		if locks.Definite(err) {
			return nil, err
		}
		return g, err
	}
	g.token = locks.Token(token)
	g.renew(sent, r.TTL)
	if !time.Now().Before(g.ValidUntil()) {
		return g, fmt.Errorf("the grant came %v after it was asked for, its lease of %v has ended", time.Since(sent).Round(time.Millisecond), r.TTL)
	}
	return g, nil
}

// Key is where the lock of that name is kept.
func Key(name string) string { return "lock:{" + name + "}" }

// TokenKey is where its tokens are counted.
func TokenKey(name string) string { return "lock:{" + name + "}:token" }

// single is one grant.
type single struct {
	conn  *redis.Client
	key   string
	owner string
	token locks.Token
	ttl   time.Duration

	mu    sync.Mutex
	until time.Time
}

func (g *single) Owner() string         { return g.owner }
func (g *single) Token() locks.Token    { return g.token }
func (g *single) TTL() time.Duration    { return g.ttl }
func (g *single) Lost() <-chan struct{} { return nil }

func (g *single) ValidUntil() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.until
}

// renew counts the lease from when it was asked for: the server can only have begun it later.
func (g *single) renew(sent time.Time, ttl time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.until = sent.Add(ttl - drift(ttl))
}

// Release deletes the key if it is still this grant's.
func (g *single) Release(ctx context.Context) error {
	return one(releaseScript.Run(ctx, g.conn, []string{g.key}, g.owner).Int64())
}

// Extend starts the lease anew if the key is still this grant's.
func (g *single) Extend(ctx context.Context, ttl time.Duration) error {
	sent := time.Now()
	if err := one(extendScript.Run(ctx, g.conn, []string{g.key}, g.owner, millis(ttl)).Int64()); err != nil {
		return err
	}
	g.renew(sent, ttl)
	return nil
}

// one turns a script's 1 into success and its 0 into ErrNotHeld.
func one(n int64, err error) error {
	if err != nil {
		return redisconn.Classify(err)
	}
	if n != 1 {
		return locks.ErrNotHeld
	}
	return nil
}
