package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// Lease is postgres/lease: a row with an owner, a token and the end of the lease by the server's clock. One conditional
// statement takes a row that is free or has ended and counts the token, so that the token's order is that of the grants.
// Nothing is held by a connection: a lease survives its client's, and any of the server's clients may see it.
type Lease struct{ options Options }

// NewLease makes the provider.
func NewLease(o Options) *Lease { return &Lease{o} }

// Claims of leases of ttl. A release or an extension that answers OK proves that the lease had not ended.
func (l *Lease) Claims(ttl time.Duration) locks.Claims {
	return locks.Claims{Expiry: history.Lease, TTL: ttl, Tokens: history.PerGrant, OwnerChecked: true, ReleaseHeld: true,
		Validity: true, Drift: locks.DriftFactor, Distributed: true, Background: l.options.Renew > 0, TellsLoss: l.options.Renew > 0}
}

// Open makes a client; see Advisory.Open for its addresses.
func (l *Lease) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	c, err := l.options.open("postgres/lease", t)
	if err != nil {
		return nil, err
	}
	return &leaseClient{c}, nil
}

type leaseClient struct{ *client }

// Acquire polls: nobody is told that a row has changed.
func (c *leaseClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	deadline := time.Now().Add(r.Wait)
	for {
		lock, err := c.try(ctx, r)
		if err == nil && c.options.Renew > 0 {
			return locks.Keep(lock, r.TTL, c.options.Renew), nil
		}
		if !errors.Is(err, locks.ErrHeld) {
			return lock, err
		}
		pause := c.pause()
		if time.Now().Add(pause).After(deadline) || !locks.Sleep(ctx, pause) {
			return nil, locks.ErrHeld
		}
	}
}

// pause between two tries: 5 to 15 ms.
func (c *client) pause() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return locks.Jitter(c.target.Rand, 10*time.Millisecond)
}

const takeLease = `INSERT INTO locktest_leases AS l (name, owner, token, expires_at)
 VALUES (%[1]s, %[2]s, 1, clock_timestamp() + interval '%[3]d microseconds')
 ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, token = l.token + 1, expires_at = clock_timestamp() + interval '%[3]d microseconds'
 WHERE l.expires_at <= clock_timestamp() RETURNING token`

// try sends one statement. Whatever is unknown comes with the lock to clean up by.
func (c *leaseClient) try(ctx context.Context, r locks.Request) (locks.Lock, error) {
	g := &leased{Leased: locks.NewLeased(c.owner(), r.TTL), client: c.client, name: r.Name}
	sent := time.Now()
	rows, err := c.query(ctx, fmt.Sprintf(takeLease, literal(g.name), literal(g.Owner()), r.TTL.Microseconds()))
	switch {
	case locks.Definite(err):
		return nil, err
	case err != nil:
		return g, fmt.Errorf("take the lease: %w", err)
	case len(rows) == 0:
		return nil, locks.ErrHeld
	}
	token, err := strconv.ParseUint(string(rows[0][0]), 10, 64)
	if err != nil {
		return g, fmt.Errorf("the token: %w", err)
	}
	return g, g.Granted(locks.Token(token), sent, r.TTL, locks.Drift(r.TTL))
}

// query runs one statement on a session that nothing else uses, and returns its rows.
func (c *client) query(ctx context.Context, sql string) (rows [][][]byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	s, err := c.take(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrUnavailable, err)
	}
	err = s.prepared(ctx, func() (err error) {
		rows, err = s.exec(ctx, sql)
		return err
	})
	if err != nil {
		c.drop(s)
		return nil, classify(err)
	}
	c.give(s)
	return rows, nil
}

// leased is one grant.
type leased struct {
	*locks.Leased
	client *client
	name   string
}

const ownLease = ` WHERE name = %s AND owner = %s AND expires_at > clock_timestamp() RETURNING token`

// Release ends the lease if it is still this grant's. The row stays, and with it the token.
func (g *leased) Release(ctx context.Context) error {
	return g.change(ctx, "UPDATE locktest_leases SET owner = NULL, expires_at = '-infinity'")
}

// Extend begins the lease anew if it is still this grant's.
func (g *leased) Extend(ctx context.Context, ttl time.Duration) error {
	sent := time.Now()
	err := g.change(ctx, fmt.Sprintf("UPDATE locktest_leases SET expires_at = clock_timestamp() + interval '%d microseconds'", ttl.Microseconds()))
	if err == nil {
		g.Renew(sent, ttl, locks.Drift(ttl))
	}
	return err
}

func (g *leased) change(ctx context.Context, sql string) error {
	rows, err := g.client.query(ctx, sql+fmt.Sprintf(ownLease, literal(g.name), literal(g.Owner())))
	if err == nil && len(rows) == 0 {
		return locks.ErrNotHeld
	}
	return err
}
