package broken

import (
	"context"

	"github.com/locktest/locktest/locks"
)

// NewErrorsAreBusy calls every error of an acquire "busy" and every error of a release a success: an acquire whose reply was
// lost leaves a lock that nobody knows of (the residue of mike-marcacci/node-redlock PR 369).
//
// Caught by: liveness
func NewErrorsAreBusy() locks.Provider {
	return &mistake{
		grant: func(ctx context.Context, c *client, g *grant) error {
			if err := rightGrant(ctx, c, g); err != nil {
				return locks.ErrHeld
			}
			return nil
		},
		release: func(ctx context.Context, g *grant) error {
			_ = g.eval(ctx, compareAndDelete, g.owner)
			return nil
		},
		claims: func(c *locks.Claims) { c.ReleaseHeld = false },
	}
}
