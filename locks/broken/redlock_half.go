package broken

import (
	"context"
	"fmt"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// NewRedlockHalf is content with half of the nodes where it needs more than half: two halves that don't hear each other both
// grant (redis/rueidis#161, clients with majorities of different sizes).
//
// Caught by: mutual-exclusion
func NewRedlockHalf() locks.Provider {
	return quorum(func(nodes int) int { return nodes / 2 })
}

// quorum is Redlock in short, on all nodes one after the other, for any size of a majority.
func quorum(enough func(nodes int) int) *mistake {
	return &mistake{
		grant: func(ctx context.Context, c *client, g *grant) error {
			sent, granted := time.Now(), 0
			for _, n := range c.nodes {
				limited, cancel := context.WithTimeout(ctx, g.ttl/10)
				set, err := n.SetNX(limited, g.key, g.owner, g.ttl).Result()
				cancel()
				if err == nil && set {
					granted++
				}
			}
			if g.validFrom(sent, g.ttl); granted >= enough(len(c.nodes)) && time.Now().Before(g.ValidUntil()) {
				return nil
			}
			g.onReachable(ctx)
			return fmt.Errorf("%w: %d of %d nodes", locks.ErrHeld, granted, len(c.nodes))
		},
		release: func(ctx context.Context, g *grant) error {
			if !g.onReachable(ctx) {
				return locks.ErrNotHeld
			}
			return nil
		},
		extend: func(ctx context.Context, g *grant, _ time.Duration) error { return locks.ErrNotHeld },
		claims: func(c *locks.Claims) { c.Tokens, c.ReleaseHeld = history.NoTokens, false },
	}
}

// onReachable releases wherever that is possible soon, and says whether any node had it. The others forget by themselves.
func (g *grant) onReachable(ctx context.Context) (had bool) {
	for _, n := range g.client.nodes {
		limited, cancel := context.WithTimeout(ctx, g.ttl/10)
		answer, err := n.Eval(limited, compareAndDelete, []string{g.key}, g.owner).Int64()
		cancel()
		had = had || err == nil && answer == 1
	}
	return had
}
