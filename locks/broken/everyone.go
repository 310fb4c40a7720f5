package broken

import (
	"context"
	"time"

	"github.com/locktest/locktest/locks"
)

// NewEveryone grants the lock to everyone: it sets the key without asking whether it is there, as an unconditional put
// with a lease does in examples of leases for etcd.
//
// Caught by: mutual-exclusion
func NewEveryone() locks.Provider {
	return &mistake{grant: func(ctx context.Context, _ *client, g *grant) error {
		sent := time.Now()
		n, err := g.node().Eval(ctx, setAnyway, []string{g.key, g.key + ":token"}, g.owner, g.ttl.Milliseconds()).Int64()
		if err != nil {
			return err
		}
		g.token = locks.Token(n)
		g.validFrom(sent, g.ttl)
		return nil
	}}
}

// setAnyway counts its token in the step that grants: the grant alone is wrong.
const setAnyway = `redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return redis.call('INCR', KEYS[2])`
