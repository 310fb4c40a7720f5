package broken

import (
	"context"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// NewProcessLocal is a lock in the memory of one process, used by several: each has its own, and nobody is kept out
// (spring-projects/spring-integration#3821 has one in front of the remote lock).
//
// Caught by: mutual-exclusion
func NewProcessLocal() locks.Provider {
	held := make(chan struct{}, 1)
	return &mistake{
		grant: func(_ context.Context, _ *client, g *grant) error {
			select {
			case held <- struct{}{}:
				return nil
			default:
				return locks.ErrHeld
			}
		},
		release: func(context.Context, *grant) error {
			select {
			case <-held:
				return nil
			default:
				return locks.ErrNotHeld
			}
		},
		extend: func(context.Context, *grant, time.Duration) error { return nil },
		claims: func(c *locks.Claims) {
			*c = locks.Claims{Expiry: history.NoExpiry, Tokens: history.NoTokens, OwnerChecked: true, ReleaseHeld: true}
		},
	}
}
