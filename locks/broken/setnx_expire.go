package broken

import (
	"context"
	"time"

	"github.com/locktest/locktest/locks"
)

// NewSetNXExpire sets the key and its TTL in two commands: a client that dies in between leaves a lock that never ends
// (redis/redis-py#554, bbangert/beaker PR 164, laravel/horizon#1738).
//
// Caught by: liveness
func NewSetNXExpire() locks.Provider {
	return &mistake{grant: func(ctx context.Context, _ *client, g *grant) error {
		sent := time.Now()
		set, err := g.node().SetNX(ctx, g.key, g.owner, 0).Result()
		if err != nil {
			return err
		}
		if !set {
			return locks.ErrHeld
		}
		if err := g.node().PExpire(ctx, g.key, g.ttl).Err(); err != nil {
			return err
		}
		g.validFrom(sent, g.ttl)
		return g.countToken(ctx)
	}}
}
