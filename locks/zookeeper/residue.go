package zookeeper

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/locktest/locktest/cluster"
)

// residue lists the nodes in the lock's queue.
func residue(ctx context.Context, addr, lock string) ([]cluster.Residue, error) {
	var out []cluster.Residue
	err := asking(ctx, addr, func(conn *zk.Conn) error {
		if _, err := conn.Sync(Dir(lock)); err != nil && !errors.Is(err, zk.ErrNoNode) { // followers may lag behind
			return err
		}
		names, _, err := conn.Children(Dir(lock))
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		for _, name := range names {
			out = append(out, cluster.Residue{Name: Dir(lock) + "/" + name})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
