package memory

import (
	"context"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// Lease is memory/lease: each grant ends exactly its TTL after it was made, unless it was extended, carries a token, and
// tells its holder of the end.
type Lease struct{ table *table }

// NewLease makes a lock service of its own.
func NewLease() *Lease { return &Lease{newTable(nil)} }

// Open makes a client of this service.
func (l *Lease) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	return &leaseClient{client{table: l.table, name: t.Client, lease: true}}, nil
}

// Claims of leases of ttl.
func (l *Lease) Claims(ttl time.Duration) locks.Claims {
	return locks.Claims{Expiry: history.Lease, TTL: ttl, TTLFromGrant: true, Tokens: history.PerGrant, OwnerChecked: true,
		ReleaseHeld: true, TellsLoss: true, Validity: true, Blocking: true}
}

type leaseClient struct{ client }

func (c *leaseClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	l, err := c.client.Acquire(ctx, r)
	if err != nil {
		return nil, err
	}
	return leased{l.(*grant)}, nil
}
