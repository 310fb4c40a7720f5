package broken

import (
	"context"
	"errors"

	"github.com/locktest/locktest/locks"
)

// NewSharedToken draws one owner value when the client is made, and whoever isn't granted the lock takes back what the try may have
// left, as Redlock's clients do: a thread that is refused deletes the lock of another thread of its client. With a client for each
// thread nothing is wrong (redlock-py, and many after it, keep the value in the lock's object; Redlock, "retry on failure").
//
// Caught by: mutual-exclusion
func NewSharedToken() locks.Provider {
	return &mistake{
		owner: func(t locks.Target) string { return t.Client + "-token" },
		grant: func(ctx context.Context, c *client, g *grant) error {
			err := rightGrant(ctx, c, g)
			if errors.Is(err, locks.ErrHeld) {
				_ = g.eval(ctx, compareAndDelete, g.owner) // not held is what one expects
			}
			return err
		},
	}
}
