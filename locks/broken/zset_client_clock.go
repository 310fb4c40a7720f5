package broken

import (
	"context"
	"errors"
	"time"

	"github.com/locktest/locktest/locks"
)

// NewZSetClientClock keeps holders in a sorted set by the clocks of the clients: one that is ahead removes permits that are
// still held (openlinker-project/openlinker PR 2019, swarthy/redis-semaphore PR 2).
//
// Caught by: permits
func NewZSetClientClock() locks.Provider {
	return &mistake{
		grant: func(ctx context.Context, _ *client, g *grant) error {
			const script = `redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[4]) then return false end
redis.call('ZADD', KEYS[1], ARGV[1] + ARGV[2], ARGV[3])
return redis.call('INCR', KEYS[2])`
			now := time.Now()
			n, err := g.node().Eval(ctx, script, []string{g.key, g.key + ":token"}, now.UnixMilli(), g.ttl.Milliseconds(), g.owner, brokenLimit).Int64()
			if isNil(err) {
				return locks.ErrHeld
			}
			if err != nil {
				return err
			}
			g.token = locks.Token(n)
			g.validFrom(now, g.ttl)
			return nil
		},
		release: func(ctx context.Context, g *grant) error {
			n, err := g.node().ZRem(ctx, g.key, g.owner).Result()
			if err == nil && n == 0 {
				return locks.ErrNotHeld
			}
			return err
		},
		extend: func(context.Context, *grant, time.Duration) error { return errors.ErrUnsupported },
		claims: func(c *locks.Claims) { c.Permits, c.ReleaseHeld = brokenLimit, false },
	}
}
