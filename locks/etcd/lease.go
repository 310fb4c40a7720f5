// Package etcd holds a lock in etcd: lease, a key that is created if it is absent, under a lease of its own for each acquire.
// It knows how the lock is taken and kept, and how the server is run; what happens to servers and links meanwhile is not its
// business.
package etcd

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// Lease is etcd/lease: each acquire makes a lease with a number of its own, and the key under it in a transaction that
// succeeds only if the key is absent. The token is the key's create revision, which rises with every change in the whole
// store. Nothing renews a lease in the background, so that its end is known; Extend puts the key under a new lease.
type Lease struct{ options Options }

// NewLease makes the provider.
func NewLease(o Options) *Lease { return &Lease{o} }

// Claims of leases of ttl, which etcd counts in whole seconds. A lease begins at the server after it was asked for, and lasts
// longer when another leader takes over, never shorter.
func (l *Lease) Claims(ttl time.Duration) locks.Claims {
	return locks.Claims{Expiry: history.Lease, TTL: granted(ttl), Tokens: history.PerGrant, OwnerChecked: true, ReleaseHeld: true,
		Validity: true, Drift: locks.DriftFactor, Blocking: true, Distributed: true,
		Background: l.options.Renew > 0, TellsLoss: l.options.Renew > 0}
}

// granted is ttl as etcd takes it.
func granted(ttl time.Duration) time.Duration { return time.Duration(seconds(ttl)) * time.Second }

func seconds(ttl time.Duration) int64 { return max(1, int64(math.Ceil(ttl.Seconds()))) }

// Open makes a client of all members, which uses one at a time. Nothing is dialed before the first acquire.
func (l *Lease) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	if len(t.Addrs) == 0 {
		return nil, errors.New("etcd/lease: no address")
	}
	return &leaseClient{target: t, options: l.options, conns: newConns(t)}, nil
}

type leaseClient struct {
	target  locks.Target
	options Options
	conns   *conns
}

func (c *leaseClient) Close() error { return c.conns.close() }

// Acquire tries, and while the key is there watches it until it goes, or for as long as r says.
func (c *leaseClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	deadline := time.Now().Add(r.Wait)
	for {
		lock, seen, err := c.try(ctx, r)
		if err == nil && c.options.Renew > 0 {
			return locks.Keep(lock, r.TTL, c.options.Renew), nil
		}
		if !errors.Is(err, locks.ErrHeld) {
			return lock, err
		}
		if !c.awaitChange(ctx, r, seen, deadline) {
			return nil, locks.ErrHeld
		}
	}
}

// timeout is how long one request may take.
func (c *leaseClient) timeout(ttl time.Duration) time.Duration {
	if c.options.Timeout > 0 {
		return c.options.Timeout
	}
	return granted(ttl)
}

// try asks once. With ErrHeld it returns the revision at which the key was there. Whatever is unknown comes with the lock to
// clean up by.
func (c *leaseClient) try(ctx context.Context, r locks.Request) (lock locks.Lock, seen int64, err error) {
	g := &lease{Leased: locks.NewLeased(c.target.Owner(), granted(r.TTL)), conns: c.conns, key: Key(r.Name), timeout: c.timeout(r.TTL), next: func() clientv3.LeaseID { return newLease(c.target) }}
	held, seen, err := g.held(ctx)
	switch {
	case err != nil:
		return handle(g, err), 0, err
	case held:
		return nil, seen, locks.ErrHeld
	}
	sent := time.Now()
	ttl, id, err := g.grant(ctx, r.TTL)
	if err != nil {
		return handle(g, err), 0, err
	}
	revision, created, err := g.create(ctx, id)
	if err != nil {
		return handle(g, err), 0, err
	}
	if !created {
		g.revoke(ctx, id) // it would end by itself
		return nil, revision, locks.ErrHeld
	}
	return g, 0, g.Granted(locks.Token(revision), sent, ttl, locks.Drift(ttl))
}

// handle is g where err leaves open what was done, and no lock where it doesn't.
func handle(g *lease, err error) locks.Lock {
	if locks.Definite(err) {
		return nil
	}
	return g
}

// Key is where the lock of that name is kept.
func Key(name string) string { return "locktest/" + name }

// lease is one grant.
type lease struct {
	*locks.Leased
	conns   *conns
	key     string
	timeout time.Duration
	next    func() clientv3.LeaseID

	mu  sync.Mutex
	ids []clientv3.LeaseID // all that the key may be under, or may yet come under
}

// Release deletes the key if it is still this grant's, and then revokes what it was under, so that a request that is still
// on its way finds no lease and does nothing.
func (g *lease) Release(ctx context.Context) error {
	var deleted bool
	err := g.conns.do(ctx, g.timeout, func(ctx context.Context, c *clientv3.Client) error {
		r, err := c.Txn(ctx).If(clientv3.Compare(clientv3.Value(g.key), "=", g.Owner())).Then(clientv3.OpDelete(g.key)).Commit()
		deleted = err == nil && r.Succeeded
		return err
	})
	if err != nil {
		return err
	}
	err = g.revokeAll(ctx)
	switch {
	case deleted:
		return nil // a lease without a key ends by itself
	case err != nil && g.Token() == 0:
		return err // what was unknown is so still
	}
	return locks.ErrNotHeld
}

// Extend puts the key under a new lease of ttl, if it is still this grant's. etcd could only renew the old one as it was, and
// would do so without asking the other members for the key.
func (g *lease) Extend(ctx context.Context, ttl time.Duration) error {
	sent := time.Now()
	got, id, err := g.grant(ctx, ttl)
	if err != nil {
		return err
	}
	var ours bool
	err = g.conns.do(ctx, g.timeout, func(ctx context.Context, c *clientv3.Client) error {
		r, err := c.Txn(ctx).If(clientv3.Compare(clientv3.Value(g.key), "=", g.Owner())).
			Then(clientv3.OpPut(g.key, g.Owner(), clientv3.WithLease(id))).Commit()
		ours = err == nil && r.Succeeded
		return err
	})
	if err != nil {
		return err
	}
	if !ours {
		g.revoke(ctx, id)
		return locks.ErrNotHeld
	}
	g.Renew(sent, got, locks.Drift(got))
	g.revokeOld(ctx, id)
	return nil
}

// held looks before a lease is made for nothing, and says at which revision.
func (g *lease) held(ctx context.Context) (held bool, revision int64, err error) {
	err = g.conns.do(ctx, g.timeout, func(ctx context.Context, c *clientv3.Client) error {
		r, err := c.Get(ctx, g.key, clientv3.WithCountOnly())
		if err == nil {
			held, revision = r.Count > 0, r.Header.Revision
		}
		return err
	})
	return held, revision, err
}

// grant makes a lease under a number of our own, by which it can be revoked even if the reply is lost.
func (g *lease) grant(ctx context.Context, ttl time.Duration) (got time.Duration, id clientv3.LeaseID, err error) {
	id = g.next()
	g.mu.Lock()
	g.ids = append(g.ids, id)
	g.mu.Unlock()
	err = g.conns.do(ctx, g.timeout, func(ctx context.Context, c *clientv3.Client) error {
		r, err := pb.NewLeaseClient(c.ActiveConnection()).LeaseGrant(ctx, &pb.LeaseGrantRequest{ID: int64(id), TTL: seconds(ttl)})
		if err == nil {
			got = time.Duration(r.TTL) * time.Second
		}
		return err
	})
	return got, id, err
}

// create makes the key if it is absent, and returns the revision of that, or the one at which it was there.
func (g *lease) create(ctx context.Context, id clientv3.LeaseID) (revision int64, created bool, err error) {
	err = g.conns.do(ctx, g.timeout, func(ctx context.Context, c *clientv3.Client) error {
		r, err := c.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(g.key), "=", 0)).
			Then(clientv3.OpPut(g.key, g.Owner(), clientv3.WithLease(id))).Commit()
		if err == nil {
			revision, created = r.Header.Revision, r.Succeeded
		}
		return err
	})
	return revision, created, err
}

func (g *lease) revokeAll(ctx context.Context) error {
	g.mu.Lock()
	ids := slices.Clone(g.ids)
	g.mu.Unlock()
	var errs []error
	for _, id := range ids {
		errs = append(errs, g.revoke(ctx, id))
	}
	return errors.Join(errs...)
}

func (g *lease) revokeOld(ctx context.Context, but clientv3.LeaseID) {
	g.mu.Lock()
	ids := slices.Clone(g.ids)
	g.mu.Unlock()
	for _, id := range ids {
		if id != but {
			g.revoke(ctx, id) // nothing is under it any more
		}
	}
}

// revoke forgets a lease that is gone.
func (g *lease) revoke(ctx context.Context, id clientv3.LeaseID) error {
	err := g.conns.do(ctx, g.timeout, func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.Revoke(ctx, id)
		if errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ids = slices.DeleteFunc(g.ids, func(x clientv3.LeaseID) bool { return x == id })
	return nil
}
