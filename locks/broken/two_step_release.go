package broken

import (
	"context"

	"github.com/locktest/locktest/locks"
)

// NewTwoStepRelease compares the owner and deletes the key in two commands: the key can change hands in between
// (redis/redis-py PR 1031, eclipse-leshan/leshan PR 837, BerriAI/litellm#21225).
//
// Caught by: mutual-exclusion
func NewTwoStepRelease() locks.Provider {
	return &mistake{grant: rightGrant, release: func(ctx context.Context, g *grant) error {
		owner, err := g.node().Get(ctx, g.key).Result()
		if isNil(err) || err == nil && owner != g.owner {
			return locks.ErrNotHeld
		}
		if err != nil {
			return err
		}
		return g.node().Del(ctx, g.key).Err()
	}}
}
