package broken

import (
	"context"
	"errors"
	"time"

	"github.com/locktest/locktest/locks"
)

// NewIgnoresLoss is told that a lease it wants to extend isn't its own any more, logs that, and goes on as if it were
// (roboflow/inference PR 2060 for a library that swallowed it).
//
// Caught by: mutual-exclusion
func NewIgnoresLoss() locks.Provider {
	return &mistake{grant: rightGrant, extend: func(ctx context.Context, g *grant, ttl time.Duration) error {
		sent := time.Now()
		err := g.eval(ctx, compareAndExpire, g.owner, ttl.Milliseconds())
		if errors.Is(err, locks.ErrNotHeld) {
			g.client.target.Log.Warn("the lock is lost", "lock", g.key)
			err = nil
		}
		if err == nil {
			g.validFrom(sent, ttl)
		}
		return err
	}}
}
