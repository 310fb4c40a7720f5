package broken

import (
	"context"

	"github.com/locktest/locktest/locks"
)

// NewReentrantCount lets its holder in again and doesn't count how often: the first release, of the innermost acquire, frees
// the lock under the outer one (compare redisson/redisson#4109, whose count is wrong the other way round).
//
// Caught by: mutual-exclusion
func NewReentrantCount() locks.Provider {
	return &mistake{
		grant: func(ctx context.Context, c *client, g *grant) error {
			const script = `local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return false end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if holder then return tonumber(redis.call('GET', KEYS[2])) end
return redis.call('INCR', KEYS[2])`
			return g.grantBy(ctx, script)
		},
		owner:  func(t locks.Target) string { return t.Client },
		claims: func(c *locks.Claims) { c.Reentry, c.ReleaseHeld = 3, false },
	}
}
