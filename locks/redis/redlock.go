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

// Redlock is redis/redlock: the same key set on 3 to 9 independent servers, granted by a majority, valid for the TTL less
// the time that it took and a drift (redis.io, "Distributed Locks with Redis"). It has no fencing tokens.
type Redlock struct{ options Options }

// NewRedlock makes the provider.
func NewRedlock(o Options) *Redlock { return &Redlock{o} }

// Claims of leases of ttl. A release that answers OK says that a majority no longer has the key, not that one had it.
func (r *Redlock) Claims(ttl time.Duration) locks.Claims {
	return locks.Claims{Expiry: history.Lease, TTL: ttl, Tokens: history.NoTokens, OwnerChecked: true, Validity: true,
		Drift: locks.DriftFactor, Distributed: true}
}

// Open makes a client of 3 to 9 addresses. Nothing is dialed before the first acquire.
func (r *Redlock) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	if n := len(t.Addrs); n < 3 || n > 9 {
		return nil, fmt.Errorf("redis/redlock: %d nodes, expected 3 to 9", n)
	}
	return &redlockClient{target: t, options: r.options, conns: map[time.Duration][]*redis.Client{}}, nil
}

type redlockClient struct {
	target  locks.Target
	options Options

	mu    sync.Mutex
	conns map[time.Duration][]*redis.Client // by command timeout
}

// nodes returns a connection pool for each server. A command to one node is given up early: waiting for a node that
// doesn't answer uses up the lease.
func (c *redlockClient) nodes(ttl time.Duration) []*redis.Client {
	timeout := c.options.Timeout
	if timeout == 0 {
		timeout = max(ttl/10, 50*time.Millisecond)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns[timeout] == nil {
		for _, addr := range c.target.Addrs {
			c.conns[timeout] = append(c.conns[timeout], redisconn.Open(c.target, addr, timeout))
		}
	}
	return c.conns[timeout]
}

func (c *redlockClient) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, nodes := range c.conns {
		for _, node := range nodes {
			errs = append(errs, node.Close())
		}
	}
	return errors.Join(errs...)
}

// Acquire tries until r.Wait has passed, with a pause of random length between two tries, so that clients that took some
// nodes each don't meet again.
func (c *redlockClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	return poll(ctx, r, c.target.Rand, cmp.Or(c.options.Retry, 20*time.Millisecond), c.try)
}

func (c *redlockClient) try(ctx context.Context, r locks.Request) (locks.Lock, error) {
	nodes := c.nodes(r.TTL)
	g := &redlock{options: c.options, nodes: nodes, key: Key(r.Name), Leased: locks.NewLeased(c.target.Owner(), r.TTL)}
	sent := time.Now()
	answers := each(nodes, func(n *redis.Client) error {
		err := n.SetArgs(ctx, g.key, g.Owner(), redis.SetArgs{Mode: "NX", TTL: time.Duration(millis(r.TTL)) * time.Millisecond}).Err()
		if errors.Is(err, redis.Nil) {
			return locks.ErrHeld
		}
		return redisconn.Classify(err)
	})
	granted := count(answers, func(err error) bool { return err == nil })
	g.Renew(sent, r.TTL, drift(r.TTL))
	if granted >= c.options.quorum(len(nodes)) && time.Now().Before(g.ValidUntil()) {
		return g, nil
	}
	return g.giveUp(ctx, answers, granted)
}

// giveUp releases every node and says what is certain. A node whose answer to the SET is unknown may still carry it out
// later, whatever it says to the release.
func (g *redlock) giveUp(ctx context.Context, answers []error, granted int) (locks.Lock, error) {
	released := g.releaseAll(locks.Cleanup(ctx))
	free, held := 0, 0
	for i, err := range answers {
		if locks.Definite(err) || err == nil && (released[i] == nil || errors.Is(released[i], locks.ErrNotHeld)) {
			free++
		}
		if errors.Is(err, locks.ErrHeld) {
			held++
		}
	}
	n := len(answers)
	switch {
	case free <= n-g.options.quorum(n):
		return g, fmt.Errorf("%d of %d nodes granted it, %d gave no certain answer: %w", granted, n, n-free, firstUncertain(answers))
	case held > 0 || granted > 0: // refused, or the time was used up, or split among several clients
		return nil, locks.ErrHeld
	}
	return nil, fmt.Errorf("%w: no node of %d could be asked", locks.ErrUnavailable, n)
}

func firstUncertain(answers []error) error {
	for _, err := range answers {
		if err != nil && !locks.Definite(err) {
			return err
		}
	}
	return errors.New("a release got no answer")
}

// quorum is how many of n nodes have to agree: more than half, or what the options say.
func (o Options) quorum(n int) int {
	if o.Quorum > 0 {
		return o.Quorum
	}
	return n/2 + 1
}

// each runs do for all nodes at once and returns their errors in order.
func each(nodes []*redis.Client, do func(*redis.Client) error) []error {
	errs := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { errs[i] = do(n) })
	}
	wg.Wait()
	return errs
}

func count(errs []error, is func(error) bool) int {
	n := 0
	for _, err := range errs {
		if is(err) {
			n++
		}
	}
	return n
}

// redlock is one grant.
type redlock struct {
	*locks.Leased
	options Options
	nodes   []*redis.Client
	key     string
}

// Release deletes the key wherever it is this grant's. It is certain once no majority can have it any more.
func (g *redlock) Release(ctx context.Context) error {
	return g.decide(g.releaseAll(ctx))
}

func (g *redlock) releaseAll(ctx context.Context) []error {
	return each(g.nodes, func(n *redis.Client) error {
		return one(releaseScript.Run(ctx, n, []string{g.key}, g.Owner()).Int64())
	})
}

// decide: nil or ErrNotHeld once a majority answered, by whether any node of it still had the key.
func (g *redlock) decide(answers []error) error {
	had := count(answers, func(err error) bool { return err == nil })
	hadNot := count(answers, func(err error) bool { return errors.Is(err, locks.ErrNotHeld) })
	switch need := g.options.quorum(len(answers)); {
	case hadNot >= need:
		return locks.ErrNotHeld
	case had+hadNot >= need:
		return nil
	}
	return fmt.Errorf("%d of %d nodes answered: %v", had+hadNot, len(answers), errors.Join(answers...)) // %v: some answers are definite, the whole is not
}

// Extend starts the lease anew on a majority.
func (g *redlock) Extend(ctx context.Context, ttl time.Duration) error {
	sent := time.Now()
	answers := each(g.nodes, func(n *redis.Client) error {
		return one(extendScript.Run(ctx, n, []string{g.key}, g.Owner(), millis(ttl)).Int64())
	})
	extended := count(answers, func(err error) bool { return err == nil })
	refused := count(answers, func(err error) bool { return errors.Is(err, locks.ErrNotHeld) })
	switch need := g.options.quorum(len(answers)); {
	case extended >= need && time.Now().Before(sent.Add(ttl-drift(ttl))):
		g.Renew(sent, ttl, drift(ttl))
		return nil
	case refused > len(answers)-need:
		return locks.ErrNotHeld
	}
	return fmt.Errorf("%d of %d nodes extended it: %v", extended, len(answers), errors.Join(answers...))
}
