package etcd

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/locks"
)

// residueLimit is how long a member may take to answer.
const residueLimit = 2 * time.Second

// residue lists the lock's keys: its own, and those of its queue.
func residue(ctx context.Context, addr, lock string) ([]cluster.Residue, error) {
	c, err := dial(locks.Target{Addrs: []string{addr}}, addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, residueLimit)
	defer cancel()
	var out []cluster.Residue
	for _, op := range []clientv3.Op{clientv3.OpGet(Key(lock)), clientv3.OpGet(Key(lock)+"/", clientv3.WithPrefix())} {
		r, err := c.Do(ctx, op)
		if err != nil {
			return nil, err
		}
		for _, kv := range r.Get().Kvs {
			left := cluster.Residue{Name: string(kv.Key)}
			if kv.Lease == 0 {
				left.Name, left.TTL = fmt.Sprintf("%s, without a lease", kv.Key), -1
			}
			out = append(out, left)
		}
	}
	return out, nil
}
