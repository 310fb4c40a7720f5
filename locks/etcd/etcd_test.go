package etcd_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/locktest/locktest/locks/etcd"
	"github.com/locktest/locktest/locks/lockstest"
)

func TestLease(t *testing.T) { conform(t, 1) }

// conform runs the kit on one cluster, with names of their own for each test.
func conform(t *testing.T, nodes int) {
	c, n := up(t, nodes)
	tests := 0
	lockstest.Run(t, func(t *testing.T) lockstest.Kit {
		tests++
		kit := lockstest.Kit{Provider: etcd.NewLease(etcd.Options{}), TTL: time.Second, Prefix: fmt.Sprintf("test-%d-", tests)}
		for _, m := range c.Nodes() {
			kit.Addrs = append(kit.Addrs, n.Addr("c1", m.Name()))
		}
		return kit
	})
}
