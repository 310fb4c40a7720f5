package broken

import (
	"context"

	"github.com/locktest/locktest/locks"
)

// NewBareDel releases by DEL without comparing the owner: a holder whose lease ended deletes the lock of the next one
// (litellm, BerriAI/litellm#21225; CERT-Polska/Artemis, PR 2560).
//
// Caught by: mutual-exclusion
func NewBareDel() locks.Provider {
	return &mistake{grant: rightGrant, release: func(ctx context.Context, g *grant) error {
		n, err := g.node().Del(ctx, g.key).Result()
		if err == nil && n == 0 {
			return locks.ErrNotHeld
		}
		return err
	}}
}
