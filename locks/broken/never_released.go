package broken

import (
	"context"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// NewNeverReleased sets a key without a TTL and answers a release with success although it does nothing, as code does
// that swallows the error of its release.
//
// Caught by: liveness
func NewNeverReleased() locks.Provider {
	return &mistake{
		grant: func(ctx context.Context, _ *client, g *grant) error {
			set, err := g.node().SetNX(ctx, g.key, g.owner, 0).Result()
			if err != nil {
				return err
			}
			if !set {
				return locks.ErrHeld
			}
			return g.countToken(ctx)
		},
		release: func(context.Context, *grant) error { return nil },
		claims: func(c *locks.Claims) {
			c.Expiry, c.TTL, c.Validity = history.NoExpiry, 0, false
		},
	}
}
