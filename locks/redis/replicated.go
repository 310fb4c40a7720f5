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

// Replicated is redis/replicated and redis/sentinel: the lock of redis/single on whichever server is the primary, with WAIT
// after each grant and extension (redis.io, "WAIT"). A grant that fewer replicas than asked for acknowledged is undone and
// refused.
//
// WAIT makes loss rarer and doesn't prevent it: the replica that is promoted need not be one that acknowledged.
type Replicated struct {
	options Options
	name    string
	least   int // addresses
	find    func(locks.Target, time.Duration) finder
}

// NewReplicated makes the provider of redis/replicated, whose clients ask the servers themselves who is the primary.
func NewReplicated(o Options) *Replicated {
	if !o.HasWait {
		o.Wait = 1
	}
	return &Replicated{options: o, name: "redis/replicated", least: 1, find: newAsking}
}

// NewSentinel makes the provider of redis/sentinel, whose clients ask Sentinels: the last three addresses.
func NewSentinel(o Options) *Replicated {
	return &Replicated{options: o, name: "redis/sentinel", least: sentinels + 1, find: newFailover}
}

// Claims of leases of ttl: those of redis/single, though a failover can break all of them.
func (p *Replicated) Claims(ttl time.Duration) locks.Claims {
	return locks.Claims{Expiry: history.Lease, TTL: ttl, Tokens: history.PerGrant, OwnerChecked: true, ReleaseHeld: true,
		Validity: true, Drift: locks.DriftFactor, Distributed: true}
}

// Open makes a client. Nothing is dialed before the first acquire.
func (p *Replicated) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	if len(t.Addrs) < p.least {
		return nil, fmt.Errorf("%s: %d nodes, expected %d or more", p.name, len(t.Addrs), p.least)
	}
	return &replicatedClient{target: t, options: p.options, find: p.find, finders: map[time.Duration]finder{}}, nil
}

// finder leads to the primary.
type finder interface {
	// primary returns a client of it; an error means that nothing was sent to it.
	primary(ctx context.Context) (*redis.Client, error)
	// failed tells what a command to it ended with.
	failed(c *redis.Client, err error)
	close() error
}

type replicatedClient struct {
	target  locks.Target
	options Options
	find    func(locks.Target, time.Duration) finder

	mu      sync.Mutex
	finders map[time.Duration]finder // by command timeout
}

func (c *replicatedClient) finder(ttl time.Duration) finder {
	timeout := c.options.Timeout
	if timeout == 0 {
		timeout = max(ttl, 50*time.Millisecond)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finders[timeout] == nil {
		c.finders[timeout] = c.find(c.target, timeout)
	}
	return c.finders[timeout]
}

func (c *replicatedClient) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, f := range c.finders {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}

// Acquire polls, since Redis tells no one that a key is gone.
func (c *replicatedClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	return poll(ctx, r, c.target.Rand, cmp.Or(c.options.Retry, 10*time.Millisecond), c.try)
}

func (c *replicatedClient) try(ctx context.Context, r locks.Request) (locks.Lock, error) {
	g := &replicated{finder: c.finder(r.TTL), wait: c.options.Wait, patience: c.patience(r.TTL), key: Key(r.Name), Leased: locks.NewLeased(c.target.Owner(), r.TTL)}
	sent := time.Now()
	token, enough, err := g.onPrimary(ctx, acquireScript, []string{g.key, TokenKey(r.Name)}, g.Owner(), millis(r.TTL))
	switch {
	case errors.Is(err, redis.Nil):
		return nil, locks.ErrHeld
	case locks.Definite(err):
		return nil, err
	case err != nil:
		return g, err
	case !enough:
		return g.undo(ctx)
	}
	return g, g.Granted(locks.Token(token), sent, r.TTL, drift(r.TTL))
}

// patience is how long WAIT waits.
func (c *replicatedClient) patience(ttl time.Duration) time.Duration {
	if c.options.WaitTimeout > 0 {
		return c.options.WaitTimeout
	}
	return max(ttl/5, 20*time.Millisecond)
}

// replicated is one grant.
type replicated struct {
	*locks.Leased
	finder   finder
	wait     int // replicas that have to acknowledge
	patience time.Duration
	key      string
}

// Release deletes the key if it is still this grant's, on the server that is the primary now.
func (g *replicated) Release(ctx context.Context) error {
	conn, err := g.finder.primary(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", locks.ErrUnavailable, err)
	}
	n, err := releaseScript.Run(ctx, conn, []string{g.key}, g.Owner()).Int64()
	g.finder.failed(conn, err)
	return one(n, err)
}

// Extend starts the lease anew if the key is still this grant's. It isn't known to have been extended before enough replicas
// acknowledged.
func (g *replicated) Extend(ctx context.Context, ttl time.Duration) error {
	sent := time.Now()
	n, enough, err := g.onPrimary(ctx, extendScript, []string{g.key}, g.Owner(), millis(ttl))
	if err := one(n, err); err != nil {
		return err
	}
	if !enough {
		return fmt.Errorf("fewer than %d replicas acknowledged the extension within %v", g.wait, g.patience)
	}
	g.Renew(sent, ttl, drift(ttl))
	return nil
}

// onPrimary runs a script and WAIT on one connection, since WAIT is about what its own connection wrote. enough is
// false where too few replicas acknowledged in time.
func (g *replicated) onPrimary(ctx context.Context, script *redis.Script, keys []string, args ...any) (n int64, enough bool, err error) {
	pool, err := g.finder.primary(ctx)
	if err != nil {
		return 0, false, fmt.Errorf("%w: %w", locks.ErrUnavailable, err)
	}
	conn := pool.Conn()
	defer conn.Close()
	n, err = script.Run(ctx, conn, keys, args...).Int64()
	if err == nil && g.wait > 0 && n > 0 {
		var acknowledged int64
		if acknowledged, err = conn.Wait(ctx, g.wait, g.patience).Result(); err == nil {
			return n, acknowledged >= int64(g.wait), nil
		}
		g.finder.failed(pool, err)
		return n, false, fmt.Errorf("wait for replicas: %v", err) // %v: whatever WAIT was refused for, the script ran
	}
	g.finder.failed(pool, err)
	if errors.Is(err, redis.Nil) {
		return 0, false, err
	}
	return n, true, redisconn.Classify(err)
}

// undo takes back a grant that isn't safe. Where that isn't certain, the lock comes back to clean up by.
func (g *replicated) undo(ctx context.Context) (locks.Lock, error) {
	why := fmt.Sprintf("fewer than %d replicas acknowledged the grant within %v", g.wait, g.patience)
	err := g.Release(locks.Cleanup(ctx))
	if err == nil || errors.Is(err, locks.ErrNotHeld) {
		return nil, fmt.Errorf("%w: %s; it was undone", locks.ErrUnavailable, why)
	}
	return g, fmt.Errorf("%s, and to undo it: %v", why, err)
}
