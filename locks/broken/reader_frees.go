package broken

import (
	"context"
	"errors"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// NewReaderFrees is a read-write lock whose every release deletes the whole lock: the first reader to leave lets a writer in
// beside the others (redisson/redisson#891, redisson/redisson#4217).
//
// Caught by: read-write
func NewReaderFrees() locks.Provider {
	return &mistake{
		grant: func(ctx context.Context, _ *client, g *grant) error {
			const script = `local mode = redis.call('GET', KEYS[1])
if mode and (mode ~= 'shared' or ARGV[2] ~= 'shared') then return false end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])
return redis.call('INCR', KEYS[2])`
			sent := time.Now()
			mode := history.Exclusive
			if g.request.Mode == history.Shared {
				mode = history.Shared
			}
			n, err := g.node().Eval(ctx, script, []string{g.key, g.key + ":token"}, g.ttl.Milliseconds(), mode).Int64()
			if isNil(err) {
				return locks.ErrHeld
			}
			if err != nil {
				return err
			}
			g.token = locks.Token(n)
			g.validFrom(sent, g.ttl)
			return nil
		},
		release: func(ctx context.Context, g *grant) error { return g.node().Del(ctx, g.key).Err() },
		extend:  func(context.Context, *grant, time.Duration) error { return errors.ErrUnsupported },
		claims:  func(c *locks.Claims) { c.Shared, c.OwnerChecked, c.ReleaseHeld = true, false, false },
	}
}
