package broken

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/locktest/locktest/locks"
)

// NewWaiterLeaseDied queues up under a lease that nothing keeps alive, and takes the end of the one before it for its own turn,
// though its own place may be gone for long (etcd-io/etcd#9921).
//
// Caught by: mutual-exclusion
func NewWaiterLeaseDied() locks.Provider {
	return &etcdMistake{acquire: func(ctx context.Context, g *etcdGrant, wait time.Duration) error {
		prefix := g.name + "/"
		put, err := g.etcd.Put(ctx, prefix+g.owner, "", clientv3.WithLease(g.id))
		if err != nil {
			return err
		}
		for mine := put.Header.Revision; ; {
			before, err := g.etcd.Get(ctx, prefix, append(clientv3.WithLastCreate(), clientv3.WithMaxCreateRev(mine-1))...)
			if err != nil {
				return err
			}
			if len(before.Kvs) == 0 {
				g.token, g.until = locks.Token(mine), time.Now().Add(g.ttl)
				return nil
			}
			if wait <= 0 {
				return locks.ErrHeld
			}
			if err := g.awaitDelete(ctx, string(before.Kvs[0].Key), before.Header.Revision); err != nil {
				return err
			}
		}
	}}
}

func (g *etcdGrant) awaitDelete(ctx context.Context, key string, seen int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for reply := range g.etcd.Watch(ctx, key, clientv3.WithRev(seen+1), clientv3.WithFilterPut()) {
		if reply.Err() != nil {
			return reply.Err()
		}
		if len(reply.Events) > 0 {
			return nil
		}
	}
	return ctx.Err()
}
