package etcd

import (
	"context"
	"errors"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/locktest/locktest/locks"
)

// NewMutex makes etcd/mutex: Mutex of package concurrency of etcd's client, with a session of its own for each acquire. The
// token is the create revision of the key that stands for the waiter, whose order is the queue's.
//
// Its Unlock answers nil after the lock was lost as well.
func NewMutex(o Options) *Sessions {
	return &Sessions{name: "etcd/mutex", options: o, claims: func(c *locks.Claims) { c.FIFO = true }, take: takeMutex,
		free: func(ctx context.Context, g *held) (bool, error) {
			err := g.mutex.Unlock(ctx)
			if errors.Is(err, concurrency.ErrLockReleased) {
				return false, nil
			}
			return err == nil, err
		}}
}

func takeMutex(ctx context.Context, g *held, wait time.Duration) error {
	g.mutex = concurrency.NewMutex(g.session, prefix(g.name))
	var err error
	if wait > 0 {
		err = g.mutex.Lock(ctx)
	} else {
		err = g.mutex.TryLock(ctx)
	}
	if errors.Is(err, concurrency.ErrLocked) {
		return locks.ErrHeld
	}
	if err != nil {
		return err
	}
	return g.with(locks.Cleanup(ctx), func(ctx context.Context, c *clientv3.Client) error {
		r, err := c.Get(ctx, g.mutex.Key())
		if err != nil {
			return err
		}
		if len(r.Kvs) == 0 {
			return errors.New("the key of the lock that was granted is gone")
		}
		g.token = locks.Token(r.Kvs[0].CreateRevision)
		return nil
	})
}

// prefix is where a lock's queue is kept: a name that begins with another's is apart.
func prefix(name string) string { return Key(name) + "/queue" }

// NewElection makes etcd/election: Election of package concurrency, whose leader is the holder. The token is the revision of
// its key.
func NewElection(o Options) *Sessions {
	return &Sessions{name: "etcd/election", options: o, claims: func(c *locks.Claims) { c.FIFO = true }, take: campaign,
		free: func(ctx context.Context, g *held) (bool, error) {
			err := g.vote.Resign(ctx)
			return err == nil, err
		}}
}

// campaign asks first whether there is a leader, where it may not wait.
func campaign(ctx context.Context, g *held, wait time.Duration) error {
	g.vote = concurrency.NewElection(g.session, prefix(g.name))
	if wait <= 0 {
		_, err := g.vote.Leader(ctx)
		switch {
		case err == nil:
			return locks.ErrHeld
		case !errors.Is(err, concurrency.ErrElectionNoLeader):
			return err
		}
	}
	if err := g.vote.Campaign(ctx, g.owner); err != nil {
		return err
	}
	g.token = locks.Token(g.vote.Rev())
	return nil
}
