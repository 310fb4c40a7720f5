package broken

import (
	"context"

	"github.com/locktest/locktest/locks"
)

// NewTTLSeconds gives the server milliseconds where it takes seconds: the lock of a dead holder lasts a thousand times as
// long as it should (coleifer/walrus#110, RichardKnop/machinery PR 655).
//
// Caught by: liveness
func NewTTLSeconds() locks.Provider {
	return &mistake{grant: func(ctx context.Context, _ *client, g *grant) error { return g.setNX(ctx, 1000*g.ttl) }}
}
