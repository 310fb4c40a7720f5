package broken

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/locks"
)

// NewLostWakeup waits for the message that a release publishes, and subscribes only after it has found the lock held: a
// release in between is never heard of, and nobody looks again (kragniz/python-etcd3#1107, redisson/redisson#3730).
//
// Caught by: liveness
func NewLostWakeup() locks.Provider {
	return &notified{mistake{grant: rightGrant, release: func(ctx context.Context, g *grant) error {
		if err := g.eval(ctx, compareAndDelete, g.owner); err != nil {
			return err
		}
		return g.node().Publish(ctx, g.key+":free", "").Err()
	}}}
}

type notified struct{ mistake }

// Open makes a client.
func (m *notified) Open(ctx context.Context, t locks.Target) (locks.Client, error) {
	c, err := m.mistake.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	return &notifiedClient{c.(*client)}, nil
}

// backOff is how long a waiter rests before it subscribes: the time in which a release is missed, which is shorter and as
// real in those who don't rest.
const backOff = 700 * time.Millisecond

type notifiedClient struct{ *client }

// Acquire tries, waits for one message, and tries once more.
func (c *notifiedClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	try := r
	try.Wait = 0
	deadline := time.Now().Add(r.Wait)
	for {
		l, err := c.client.Acquire(ctx, try)
		if !errors.Is(err, locks.ErrHeld) || !time.Now().Before(deadline) {
			return l, err
		}
		if !c.hear(ctx, "lock:{"+r.Name+"}:free", deadline) {
			return nil, locks.ErrHeld
		}
	}
}

func (c *notifiedClient) hear(ctx context.Context, channel string, deadline time.Time) bool {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if !locks.Sleep(ctx, backOff) {
		return false
	}
	sub := c.nodes[0].Subscribe(ctx, channel)
	defer sub.Close()
	for {
		m, err := sub.Receive(ctx)
		if err != nil {
			return false
		}
		if _, ok := m.(*redis.Message); ok {
			return true
		}
	}
}
