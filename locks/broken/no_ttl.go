package broken

import (
	"context"
	"time"

	"github.com/locktest/locktest/locks"
)

// NewNoTTL sets the key without a TTL, though it promises a lease: who dies keeps the lock for ever
// (zoolutions/sidekiq-unique-jobs#379).
//
// Caught by: liveness
func NewNoTTL() locks.Provider {
	return &mistake{grant: func(ctx context.Context, _ *client, g *grant) error { return g.setNX(ctx, 0) }}
}

// setNX grants by SET NX with another TTL than the one that is believed in, and counts the token in the same step.
func (g *grant) setNX(ctx context.Context, ttl time.Duration) error {
	const script = `if redis.call('SETNX', KEYS[1], ARGV[1]) == 0 then return false end
if tonumber(ARGV[2]) > 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return redis.call('INCR', KEYS[2])`
	sent := time.Now()
	n, err := g.node().Eval(ctx, script, []string{g.key, g.key + ":token"}, g.owner, ttl.Milliseconds()).Int64()
	if isNil(err) {
		return locks.ErrHeld
	}
	if err != nil {
		return err
	}
	g.token = locks.Token(n)
	g.validFrom(sent, g.ttl)
	return nil
}
