package broken

import (
	"context"

	"github.com/locktest/locktest/locks"
)

// NewTTLMilliseconds gives the server seconds where it takes milliseconds: the lock ends a thousand times sooner than its
// holder believes (riido-git/locksmith#12, chiradeep/dyndb-mutex#13).
//
// Caught by: mutual-exclusion
func NewTTLMilliseconds() locks.Provider {
	return &mistake{grant: func(ctx context.Context, _ *client, g *grant) error { return g.setNX(ctx, max(g.ttl/1000, 1e6)) }}
}
