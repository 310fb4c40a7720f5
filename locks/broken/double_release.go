package broken

import (
	"context"

	"github.com/locktest/locktest/locks"
)

// NewDoubleRelease counts permits without knowing whose they are: who releases twice frees a stranger's
// (dv/redis-semaphore#48).
//
// Caught by: permits
func NewDoubleRelease() locks.Provider {
	return &mistake{
		grant: func(ctx context.Context, _ *client, g *grant) error {
			const script = `if tonumber(redis.call('GET', KEYS[1]) or '0') >= tonumber(ARGV[2]) then return false end
redis.call('INCR', KEYS[1]) redis.call('PEXPIRE', KEYS[1], 100 * ARGV[1])
return redis.call('INCR', KEYS[2])`
			return g.count(ctx, script)
		},
		release: decrement,
		claims:  counterClaims,
	}
}
