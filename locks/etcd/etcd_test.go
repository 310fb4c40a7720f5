package etcd_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/etcd"
	"github.com/locktest/locktest/locks/lockstest"
)

func TestConformance(t *testing.T) { conform(t, 1) }

// conform runs the kit for each strategy on one cluster, with names of their own for each test.
func conform(t *testing.T, nodes int) {
	c, n := up(t, nodes)
	var addrs []string
	for _, m := range c.Nodes() {
		addrs = append(addrs, n.Addr("c1", m.Name()))
	}
	o := etcd.Options{}
	for name, p := range map[string]locks.Provider{
		"lease": etcd.NewLease(o), "lease, renewed": etcd.NewLease(etcd.Options{Renew: 250 * time.Millisecond}), "mutex": etcd.NewMutex(o), "rwlock": etcd.NewRWLock(o), "election": etcd.NewElection(o), "cas": etcd.NewCAS(o),
	} {
		tests := 0
		t.Run(name, func(t *testing.T) {
			lockstest.Run(t, func(t *testing.T) lockstest.Kit {
				tests++
				return lockstest.Kit{Provider: p, TTL: time.Second, Addrs: addrs, Prefix: fmt.Sprintf("%s-%d-", name, tests)}
			})
		})
	}
}
