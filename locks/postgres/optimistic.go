package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// Optimistic is postgres/optimistic: no lock at all. Everybody is let in; that only one of those who read a version can
// write the next is for the resource to see to, by comparing versions (UPDATE … SET version = n + 1 WHERE version = n). It is
// the alternative to a lock, to be compared with.
type Optimistic struct{ options Options }

// NewOptimistic makes the provider.
func NewOptimistic(o Options) *Optimistic { return &Optimistic{o} }

// Claims no exclusion.
func (o *Optimistic) Claims(time.Duration) locks.Claims {
	return locks.Claims{Expiry: history.NoExpiry, Tokens: history.NoTokens, NonExclusive: true, Distributed: true}
}

// Open makes a client; see Advisory.Open for its addresses.
func (o *Optimistic) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	c, err := o.options.open("postgres/optimistic", t)
	if err != nil {
		return nil, err
	}
	return &optimist{c}, nil
}

type optimist struct{ *client }

// Acquire asks the server whether it is there.
func (c *optimist) Acquire(ctx context.Context, _ locks.Request) (locks.Lock, error) {
	if _, err := c.query(ctx, "SELECT true"); err != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrUnavailable, err) // nothing was asked for that could take effect
	}
	return locks.NewFree(c.owner()), nil
}
