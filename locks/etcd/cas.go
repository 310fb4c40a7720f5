package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// CAS is etcd/cas: no lock at all. Everybody is let in; that only one of those who read a revision can write the next is for
// a transaction at the resource to see to (If ModRevision = n Then Put). It is the alternative to a lock, to be compared with.
type CAS struct{ options Options }

// NewCAS makes the provider.
func NewCAS(o Options) *CAS { return &CAS{o} }

// Claims no exclusion.
func (p *CAS) Claims(time.Duration) locks.Claims {
	return locks.Claims{Expiry: history.NoExpiry, Tokens: history.NoTokens, NonExclusive: true, Distributed: true}
}

// Open makes a client of all members, which uses one at a time.
func (p *CAS) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	if len(t.Addrs) == 0 {
		return nil, errors.New("etcd/cas: no address")
	}
	return &casClient{conns: newConns(t), target: t, options: p.options}, nil
}

type casClient struct {
	conns   *conns
	target  locks.Target
	options Options
}

func (c *casClient) Close() error { return c.conns.close() }

// Acquire asks the members whether they are there.
func (c *casClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	timeout := c.options.Timeout
	if timeout == 0 {
		timeout = granted(r.TTL)
	}
	err := c.conns.do(ctx, timeout, func(ctx context.Context, client *clientv3.Client) error {
		_, err := client.Get(ctx, Key(r.Name), clientv3.WithCountOnly())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrUnavailable, err) // nothing was asked for that could take effect
	}
	return locks.NewFree(c.target.Owner()), nil
}
