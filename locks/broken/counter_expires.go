package broken

import (
	"context"

	"github.com/locktest/locktest/locks"
)

// NewCounterExpires counts permits in a counter whose TTL the first holder sets: it ends under the later ones, who are
// counted no more, and whose DECR then makes room that isn't there (a counter decremented after its expiry).
//
// Caught by: permits
func NewCounterExpires() locks.Provider {
	return &mistake{
		grant: func(ctx context.Context, _ *client, g *grant) error {
			const script = `if tonumber(redis.call('GET', KEYS[1]) or '0') >= tonumber(ARGV[2]) then return false end
if redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return redis.call('INCR', KEYS[2])`
			return g.count(ctx, script)
		},
		release: decrement,
		claims:  counterClaims,
	}
}
