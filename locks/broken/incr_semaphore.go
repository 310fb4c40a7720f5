package broken

import (
	"context"
	"time"

	"github.com/locktest/locktest/locks"
)

// brokenLimit is how many permits the broken semaphores have.
const brokenLimit = 2

// NewINCRSemaphore counts permits by INCR and DECR, and sets the counter's TTL anew at each try: permits of holders that
// died never come back while anybody asks (nasa/Common-Metadata-Repository PR 2477).
//
// Caught by: liveness
func NewINCRSemaphore() locks.Provider {
	return &mistake{
		grant: func(ctx context.Context, _ *client, g *grant) error {
			const script = `local n = redis.call('INCR', KEYS[1]) redis.call('PEXPIRE', KEYS[1], ARGV[1])
if n > tonumber(ARGV[2]) then redis.call('DECR', KEYS[1]) return false end
return redis.call('INCR', KEYS[2])`
			return g.count(ctx, script)
		},
		release: decrement,
		claims:  counterClaims,
	}
}

// count runs a script that counts a permit and answers with a token, or nil where there is none left.
func (g *grant) count(ctx context.Context, script string) error {
	sent := time.Now()
	n, err := g.node().Eval(ctx, script, []string{g.key, g.key + ":token"}, g.ttl.Milliseconds(), brokenLimit).Int64()
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

func decrement(ctx context.Context, g *grant) error { return g.node().Decr(ctx, g.key).Err() }

// counterClaims are those of a semaphore that knows no owners.
func counterClaims(c *locks.Claims) {
	c.Permits, c.OwnerChecked, c.ReleaseHeld = brokenLimit, false, false
}
