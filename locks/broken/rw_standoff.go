package broken

import (
	"context"
	"errors"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// NewRWStandoff is a read-write lock in two steps: whoever wants in says so first, and then waits until nobody is in the way. A
// reader and a writer that come at the same time each find the other, and wait until both give up, though nobody holds
// (python-zk/kazoo#649).
//
// Caught by: liveness
func NewRWStandoff() locks.Provider {
	return &standoff{mistake{
		release: func(ctx context.Context, g *grant) error {
			n, err := g.node().ZRem(ctx, g.side(), g.owner).Result()
			if err == nil && n == 0 {
				return locks.ErrNotHeld
			}
			return err
		},
		extend: func(context.Context, *grant, time.Duration) error { return errors.ErrUnsupported },
		claims: func(c *locks.Claims) { c.Shared, c.Tokens = true, history.NoTokens },
	}}
}

// side is where g stands, by its mode; the other one is in its way.
func (g *grant) side() string {
	if g.request.Mode == history.Shared {
		return g.key + ":readers"
	}
	return g.key + ":writers"
}

type standoff struct{ mistake }

// Open makes a client.
func (m *standoff) Open(ctx context.Context, t locks.Target) (locks.Client, error) {
	c, err := m.mistake.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	return &standoffClient{c.(*client)}, nil
}

type standoffClient struct{ *client }

// Acquire enters, and leaves again when its wait is over. A wait is much shorter than a lease, and the client takes its time
// between the two steps.
func (c *standoffClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	g, sent := c.new(r), time.Now()
	enter := func() error {
		const script = `redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2]) redis.call('PEXPIRE', KEYS[1], 10 * ARGV[3]) return 1`
		return g.node().Eval(ctx, script, []string{g.side()}, sent.UnixMilli(), g.owner, r.TTL.Milliseconds()).Err()
	}
	if err := enter(); err != nil {
		return g.unlessDefinite(err)
	}
	for deadline := sent.Add(r.Wait); ; {
		if !locks.Sleep(ctx, c.pause()) {
			break
		}
		clear, err := g.clear(ctx)
		if err != nil {
			return g.unlessDefinite(err)
		}
		if clear {
			g.validFrom(sent, g.ttl)
			return g, nil
		}
		if !time.Now().Before(deadline) {
			break
		}
	}
	if err := g.Release(locks.Cleanup(ctx)); err != nil && !errors.Is(err, locks.ErrNotHeld) {
		return g, err
	}
	return nil, locks.ErrHeld
}

// clear says whether nobody is in g's way: for a reader no writer, for a writer nobody at all.
func (g *grant) clear(ctx context.Context) (bool, error) {
	readers, err := g.node().ZCard(ctx, g.key+":readers").Result()
	if err != nil {
		return false, err
	}
	writers, err := g.node().ZCard(ctx, g.key+":writers").Result()
	if g.request.Mode == history.Shared {
		return writers == 0, err
	}
	return readers == 0 && writers == 1, err
}
