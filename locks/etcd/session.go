package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// Sessions are the locks of etcd whose leases the client library keeps alive in the background, as package concurrency of
// its client does: each acquire has a session of its own, under a lease with a number of our own, by which it can be ended
// even if no reply came.
type Sessions struct {
	name    string
	options Options
	claims  func(*locks.Claims)
	// take waits for the lock until ctx ends, or tries once where wait is 0. It returns errHeld where somebody else has it.
	take func(ctx context.Context, g *held, wait time.Duration) error
	// free gives up what take got, and says whether it was held until then.
	free func(ctx context.Context, g *held) (was bool, err error)
}

// Claims of sessions of ttl, which etcd counts in whole seconds. The library tells of a loss when the lease must have ended.
func (p *Sessions) Claims(ttl time.Duration) locks.Claims {
	c := locks.Claims{Expiry: history.Session, TTL: granted(ttl), Tokens: history.PerGrant, OwnerChecked: true, TellsLoss: true,
		Drift: locks.DriftFactor, Blocking: true, Distributed: true}
	p.claims(&c)
	return c
}

// Open makes a client of all members, which uses one at a time. Nothing is dialed before the first acquire.
func (p *Sessions) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	if len(t.Addrs) == 0 {
		return nil, errors.New(p.name + ": no address")
	}
	return &sessionClient{Sessions: p, target: t, conns: newConns(t), holds: map[*held]struct{}{}}, nil
}

type sessionClient struct {
	*Sessions
	target locks.Target
	conns  *conns

	mu    sync.Mutex
	holds map[*held]struct{} // whose sessions are kept alive
}

// Close lets the sessions end by themselves, as they do when a client's process ends.
func (c *sessionClient) Close() error {
	c.mu.Lock()
	holds := c.holds
	c.holds = map[*held]struct{}{}
	c.mu.Unlock()
	for g := range holds {
		g.stop()
	}
	return c.conns.close()
}

// Acquire makes a session and takes the lock in it.
func (c *sessionClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	g := &held{client: c, name: r.Name, mode: r.Mode, owner: c.target.Owner(), id: newLease(c.target), lost: make(chan struct{}), timeout: c.timeout(r.TTL)}
	if err := g.begin(ctx, r.TTL); err != nil {
		if locks.Definite(err) {
			return nil, err
		}
		return g, err
	}
	limited, cancel := context.WithTimeout(ctx, max(r.Wait, g.timeout))
	if r.Wait > 0 {
		cancel()
		limited, cancel = context.WithTimeout(ctx, r.Wait)
	}
	defer cancel()
	err := c.take(limited, g, r.Wait)
	switch {
	case err == nil && !g.isLost():
		return g, nil
	case err == nil:
		return g, errors.New("the session ended before the reply came")
	case errors.Is(err, locks.ErrHeld), r.Wait > 0 && limited.Err() != nil:
		return g.giveUp(ctx)
	}
	return g, err
}

func (c *sessionClient) timeout(ttl time.Duration) time.Duration {
	if c.options.Timeout > 0 {
		return c.options.Timeout
	}
	return granted(ttl)
}

// held is one acquire and its session.
type held struct {
	client  *sessionClient
	name    string
	mode    string
	owner   string
	id      clientv3.LeaseID
	timeout time.Duration
	ttl     time.Duration
	token   locks.Token
	session *concurrency.Session
	mutex   *concurrency.Mutex    // of etcd/mutex
	vote    *concurrency.Election // of etcd/election
	key     string                // of the others
	quit    context.CancelFunc

	lost chan struct{}
	once sync.Once
}

func (g *held) Owner() string         { return g.owner }
func (g *held) Token() locks.Token    { return g.token }
func (g *held) TTL() time.Duration    { return g.ttl }
func (g *held) ValidUntil() time.Time { return time.Time{} }
func (g *held) Lost() <-chan struct{} { return g.lost }

func (g *held) isLost() bool {
	select {
	case <-g.lost:
		return true
	default:
		return false
	}
}

// begin makes the lease, and has the library keep it alive over the connection that is up now.
func (g *held) begin(ctx context.Context, ttl time.Duration) error {
	return g.client.conns.do(ctx, g.timeout, func(ctx context.Context, c *clientv3.Client) error {
		r, err := pb.NewLeaseClient(c.ActiveConnection()).LeaseGrant(ctx, &pb.LeaseGrantRequest{ID: int64(g.id), TTL: seconds(ttl)})
		if err != nil {
			return err
		}
		g.ttl = time.Duration(r.TTL) * time.Second
		alive, quit := context.WithCancel(context.WithoutCancel(ctx))
		s, err := concurrency.NewSession(c, concurrency.WithLease(g.id), concurrency.WithTTL(int(r.TTL)), concurrency.WithContext(alive))
		if err != nil {
			quit()
			return err
		}
		g.session, g.quit = s, quit
		g.client.keep(g)
		go func() {
			<-s.Done()
			g.once.Do(func() { close(g.lost) })
		}()
		return nil
	})
}

func (c *sessionClient) keep(g *held) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holds[g] = struct{}{}
}

// stop ends the renewal, and nothing else.
func (g *held) stop() {
	if g.quit == nil {
		return
	}
	g.quit()
	g.client.mu.Lock()
	defer g.client.mu.Unlock()
	delete(g.client.holds, g)
}

// giveUp takes back what a wait in vain has left: ErrHeld once that is certain.
func (g *held) giveUp(ctx context.Context) (locks.Lock, error) {
	if err := g.revoke(locks.Cleanup(ctx)); err != nil {
		return g, fmt.Errorf("leave the queue: %w", err)
	}
	return nil, locks.ErrHeld
}

// Release gives the lock up, and then ends its session, after which a request that is still on its way does nothing.
func (g *held) Release(ctx context.Context) error {
	var was bool
	var err error
	if g.session != nil && g.token != 0 {
		ctx, cancel := context.WithTimeout(ctx, g.timeout)
		was, err = g.client.free(ctx, g)
		cancel()
	}
	if err != nil && g.client.Claims(g.ttl).ReleaseHeld {
		return err // asked again, it says whether it was held
	}
	if revoked := g.revoke(ctx); revoked != nil && !was {
		return errors.Join(err, revoked)
	}
	if was || err != nil { // it is gone in any case
		return nil
	}
	return locks.ErrNotHeld
}

// revoke ends the lease, and with it all that is under it. One that is gone is no error.
func (g *held) revoke(ctx context.Context) error {
	g.stop()
	return g.client.conns.do(ctx, g.timeout, func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.Revoke(ctx, g.id)
		if errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return nil
		}
		return err
	})
}

// with runs f with a connection that is up.
func (g *held) with(ctx context.Context, f func(context.Context, *clientv3.Client) error) error {
	return g.client.conns.do(ctx, g.timeout, f)
}
