package broken

import (
	"context"
	"strconv"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// NewClientClock keeps the end of the lease in the value, by the client's clock, and lets whoever's clock says that it is
// over take the lock by GETSET: one clock that is ahead ends everybody's lease (redis.io, "SETNX", the locking pattern of
// its older documentation, which says so itself).
//
// Caught by: mutual-exclusion
func NewClientClock() locks.Provider {
	return &mistake{
		grant: func(ctx context.Context, _ *client, g *grant) error {
			sent := time.Now()
			g.owner = strconv.FormatInt(sent.Add(g.ttl).UnixNano(), 10) // no two are the same
			set, err := g.node().SetNX(ctx, g.key, g.owner, 0).Result()
			if err == nil && !set {
				set, err = g.takeOver(ctx, sent)
			}
			if err != nil {
				return err
			}
			if !set {
				return locks.ErrHeld
			}
			g.validFrom(sent, g.ttl)
			return nil
		},
		claims: func(c *locks.Claims) { c.Tokens = history.NoTokens },
	}
}

// takeOver replaces a value whose time is over, and looks whether it was still the same.
func (g *grant) takeOver(ctx context.Context, now time.Time) (bool, error) {
	before, err := g.node().Get(ctx, g.key).Result()
	if isNil(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if end, err := strconv.ParseInt(before, 10, 64); err != nil || now.UnixNano() < end {
		return false, nil
	}
	replaced, err := g.node().GetSet(ctx, g.key, g.owner).Result()
	return err == nil && replaced == before, err
}
