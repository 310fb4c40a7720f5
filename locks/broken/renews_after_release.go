package broken

import (
	"context"
	"time"

	"github.com/locktest/locktest/locks"
)

// NewRenewsAfterRelease starts a renewal by PEXPIRE for each grant and never stops it: it keeps alive whatever lock has that
// name, that of a dead holder too (redisson/redisson#2037, redisson/redisson#1626).
//
// Caught by: liveness
func NewRenewsAfterRelease() locks.Provider {
	return &mistake{grant: func(ctx context.Context, c *client, g *grant) error {
		if err := rightGrant(ctx, c, g); err != nil {
			return err
		}
		go func() {
			for range time.Tick(g.ttl / 3) {
				if g.node().PExpire(context.Background(), g.key, g.ttl).Err() != nil {
					return // the client was closed
				}
			}
		}()
		return nil
	}}
}
