package broken

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/locktest/locktest/locks"
)

// NewUnconditionalPut puts the key under a lease without asking whether it is there: everyone is granted the lock
// (client.lease.put(key), as examples for etcd show it).
//
// Caught by: mutual-exclusion
func NewUnconditionalPut() locks.Provider {
	return &etcdMistake{acquire: func(ctx context.Context, g *etcdGrant, _ time.Duration) error {
		r, err := g.etcd.Put(ctx, g.name, g.owner, clientv3.WithLease(g.id))
		if err == nil {
			g.token = locks.Token(r.Header.Revision)
		}
		return err
	}}
}
