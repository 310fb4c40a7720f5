package broken

import (
	"context"
	"time"

	"github.com/locktest/locktest/locks"
)

// NewEveryone grants the lock to everyone: it sets the key without asking whether it is there, as an unconditional put
// with a lease does in examples of leases for etcd.
//
// Caught by: mutual-exclusion
func NewEveryone() locks.Provider {
	return &mistake{grant: func(ctx context.Context, _ *client, g *grant) error {
		sent := time.Now()
		if err := g.node().Set(ctx, g.key, g.owner, g.ttl).Err(); err != nil {
			return err
		}
		g.validFrom(sent, g.ttl)
		return g.countToken(ctx)
	}}
}
