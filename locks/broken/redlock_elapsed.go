package broken

import (
	"context"
	"fmt"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// NewRedlockElapsed takes a majority of nodes, one after the other, and counts the validity from the end of that instead
// of its beginning: over slow links the first keys are gone before the holder believes so (the algorithm's step 3, "Distributed
// Locks with Redis", redis.io).
//
// Caught by: mutual-exclusion
func NewRedlockElapsed() locks.Provider {
	return &mistake{
		grant: func(ctx context.Context, c *client, g *grant) error {
			granted := 0
			for _, n := range c.nodes {
				if set, err := n.SetNX(ctx, g.key, g.owner, g.ttl).Result(); err == nil && set {
					granted++
				}
			}
			if granted <= len(c.nodes)/2 {
				return fmt.Errorf("%w: %d of %d nodes", orHeld(g.onAll(ctx)), granted, len(c.nodes))
			}
			g.validFrom(time.Now(), g.ttl)
			return nil
		},
		release: func(ctx context.Context, g *grant) error { return g.onAll(ctx) },
		claims: func(c *locks.Claims) {
			c.Tokens, c.ReleaseHeld = history.NoTokens, false
		},
	}
}

// orHeld: what was taken in vain is given back, and then it is certain that the lock was not got.
func orHeld(err error) error {
	if err == nil || err == locks.ErrNotHeld {
		return locks.ErrHeld
	}
	return err
}

// onAll releases all nodes. ErrNotHeld: none had it.
func (g *grant) onAll(ctx context.Context) error {
	had := false
	for _, n := range g.client.nodes {
		answer, err := n.Eval(ctx, compareAndDelete, []string{g.key}, g.owner).Int64()
		if err != nil {
			return err
		}
		had = had || answer == 1
	}
	if !had {
		return locks.ErrNotHeld
	}
	return nil
}
