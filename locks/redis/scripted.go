package redis

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/internal/redisconn"
)

// scripted is a lock on one server whose every step is one script there. The scripts of a strategy take the same KEYS, and
// ARGV owner, TTL in ms, and what extra returns. They answer with the token, or nil where it is held; the others with 1, or
// 0 where it isn't the owner's.
type scripted struct {
	name    string
	options Options
	keys    func(name string) []string
	acquire *redis.Script
	release *redis.Script
	extend  *redis.Script
	// leave is run when a waiter gives up, to take back what its tries have left. nil: they leave nothing.
	leave *redis.Script
	extra func(r locks.Request, o Options) []any
	// claims changes what redis/single claims.
	claims func(*locks.Claims)
}

// Claims of leases of ttl. A release that answers OK proves that the lease had not ended: the key was still the owner's.
func (s *scripted) Claims(ttl time.Duration) locks.Claims {
	c := locks.Claims{Expiry: history.Lease, TTL: ttl, Tokens: history.PerGrant, OwnerChecked: true, ReleaseHeld: true,
		Validity: true, Drift: locks.DriftFactor, Distributed: true}
	if s.options.Renew > 0 {
		c.Background, c.TellsLoss = true, true
	}
	if s.claims != nil {
		s.claims(&c)
	}
	return c
}

// Open makes a client of the first address. Nothing is dialed before the first acquire.
func (s *scripted) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	return s.open(t)
}

func (s *scripted) open(t locks.Target) (*scriptedClient, error) {
	if len(t.Addrs) == 0 {
		return nil, errors.New(s.name + ": no address")
	}
	return &scriptedClient{scripted: s, target: t, conns: map[time.Duration]*redis.Client{}}, nil
}

type scriptedClient struct {
	*scripted
	target locks.Target

	mu    sync.Mutex
	conns map[time.Duration]*redis.Client // by command timeout
}

func (c *scriptedClient) conn(ttl time.Duration) *redis.Client {
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

func (c *scriptedClient) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, conn := range c.conns {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}

// retry is the mean time between two tries.
func (o Options) retry() time.Duration { return cmp.Or(o.Retry, 10*time.Millisecond) }

// Acquire polls, since Redis tells no one that a key is gone. All its tries have one owner value: none of them has taken
// effect unless it says so, or is the last.
func (c *scriptedClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	l, err := c.as(ctx, r, c.target.Owner())
	if err == nil && c.options.Renew > 0 {
		return locks.Keep(l, r.TTL, c.options.Renew), nil
	}
	return l, err
}

func (c *scriptedClient) as(ctx context.Context, r locks.Request, owner string) (locks.Lock, error) {
	lock, err := poll(ctx, r, c.target.Rand, c.options.retry(), func(ctx context.Context, r locks.Request) (locks.Lock, error) {
		return c.try(ctx, r, owner)
	})
	if errors.Is(err, locks.ErrHeld) && c.leave != nil {
		ctx, cancel := context.WithTimeout(locks.Cleanup(ctx), r.TTL)
		defer cancel()
		// Who can't be reached now forgets the waiter by itself.
		_ = c.leave.Run(ctx, c.conn(r.TTL), c.keys(r.Name), c.args(r, owner, r.TTL)...).Err()
	}
	return lock, err
}

func (c *scriptedClient) args(r locks.Request, owner string, ttl time.Duration) []any {
	args := []any{owner, millis(ttl)}
	if c.extra != nil {
		args = append(args, c.extra(r, c.options)...)
	}
	return args
}

// try asks once. Whatever is unknown comes with the lock to clean up by.
func (c *scriptedClient) try(ctx context.Context, r locks.Request, owner string) (locks.Lock, error) {
	g := &single{Leased: locks.NewLeased(owner, r.TTL), client: c, request: r, conn: c.conn(r.TTL)}
	sent := time.Now()
	token, err := c.acquire.Run(ctx, g.conn, c.keys(r.Name), c.args(r, owner, r.TTL)...).Int64()
	if errors.Is(err, redis.Nil) {
		return nil, locks.ErrHeld
	}
	if err := redisconn.Classify(err); err != nil {
		if locks.Definite(err) {
			return nil, err
		}
		return g, err
	}
	return g, g.Granted(locks.Token(token), sent, r.TTL, drift(r.TTL))
}

// single is one grant on one server.
type single struct {
	*locks.Leased
	client  *scriptedClient
	request locks.Request
	conn    *redis.Client
}

// Release frees the lock if it is still this grant's.
func (g *single) Release(ctx context.Context) error {
	c := g.client
	return one(c.release.Run(ctx, g.conn, c.keys(g.request.Name), c.args(g.request, g.Leased.Owner(), g.TTL())...).Int64())
}

// Extend starts the lease anew if the lock is still this grant's.
func (g *single) Extend(ctx context.Context, ttl time.Duration) error {
	c, sent := g.client, time.Now()
	if err := one(c.extend.Run(ctx, g.conn, c.keys(g.request.Name), c.args(g.request, g.Leased.Owner(), ttl)...).Int64()); err != nil {
		return err
	}
	g.Renew(sent, ttl, drift(ttl))
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
