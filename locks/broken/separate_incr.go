package broken

import (
	"context"
	"time"

	"github.com/locktest/locktest/locks"
)

// NewSeparateIncr counts the fencing token in a command of its own after the grant: a holder that was slow in between
// gets a higher token than the one who came after it, and the resource then refuses the holder that is right.
//
// Caught by: fencing
func NewSeparateIncr() locks.Provider {
	return &mistake{grant: func(ctx context.Context, _ *client, g *grant) error {
		sent := time.Now()
		set, err := g.node().SetNX(ctx, g.key, g.owner, g.ttl).Result()
		if err != nil {
			return err
		}
		if !set {
			return locks.ErrHeld
		}
		g.validFrom(sent, g.ttl)
		return g.countToken(ctx)
	}}
}
