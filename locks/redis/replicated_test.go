package redis_test

import (
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/lockstest"
)

// up starts nodes and the links between them and two clients.
func up(t *testing.T, s cluster.Service, nodes int) (*process.Cluster, cluster.PeerNetwork) {
	t.Helper()
	c, net := clustertest.Up(t, process.Options{Service: s, Nodes: nodes}, "c1", "c2")
	return c, net
}

func open(t *testing.T, p locks.Provider, name string, c *process.Cluster, net cluster.Network) locks.Client {
	t.Helper()
	target := locks.Target{Client: name, Rand: rand.New(rand.NewPCG(1, uint64(name[1]))), Log: slog.New(slog.DiscardHandler)}
	for _, n := range c.Nodes() {
		target.Addrs = append(target.Addrs, net.Addr(name, n.Name()))
	}
	client, err := p.Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func request(ttl time.Duration) locks.Request { return locks.Request{Name: "orders", TTL: ttl} }

// conformShared has one set of servers for all tests of the kit, which forget its lock between them.
func conformShared(t *testing.T, p locks.Provider, s cluster.Service, nodes int) {
	c, net := up(t, s, nodes)
	lockstest.Run(t, func(t *testing.T) lockstest.Kit {
		if err := serverClient(t, c.Nodes()[0].Addr()).FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		kit := lockstest.Kit{Provider: p, TTL: ttl}
		for _, n := range c.Nodes() {
			kit.Addrs = append(kit.Addrs, net.Addr("c1", n.Name()))
		}
		return kit
	})
}
