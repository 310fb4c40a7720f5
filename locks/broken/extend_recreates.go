package broken

import (
	"context"
	"time"

	"github.com/locktest/locktest/locks"
)

// NewExtendRecreates extends by SET, which makes the key anew where it had ended, and takes it from whoever has it now
// (CERT-Polska/Artemis, PR 2560; leandromoreira/redlock-rb#36).
//
// Caught by: mutual-exclusion
func NewExtendRecreates() locks.Provider {
	return &mistake{grant: rightGrant, extend: func(ctx context.Context, g *grant, ttl time.Duration) error {
		sent := time.Now()
		if err := g.node().Set(ctx, g.key, g.owner, ttl).Err(); err != nil {
			return err
		}
		g.validFrom(sent, ttl)
		return nil
	}}
}
