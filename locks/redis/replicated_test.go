package redis_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/cluster/proxy"
	"github.com/locktest/locktest/internal/proc"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/lockstest"
)

// up starts nodes and the links between them and two clients.
func up(t *testing.T, s cluster.Service, nodes int) (*process.Cluster, cluster.PeerNetwork) {
	t.Helper()
	needServer(t)
	sp, err := proc.NewSpawner(proc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sp.Close() })
	c, err := process.New(process.Options{Service: s, Nodes: nodes, Spawner: sp, LogDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	net, err := cluster.Up(t.Context(), c, func(nodes []cluster.Node, p *cluster.Peering) (cluster.Network, error) {
		return proxy.New(proxy.Options{Clients: []string{"c1", "c2"}, Nodes: nodes, Peering: p, Rand: rand.New(rand.NewPCG(1, 2))})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		net.Close()
	})
	return c, net.(cluster.PeerNetwork)
}

func eventually(t *testing.T, what string, holds func(ctx context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), serviceLimit)
	defer cancel()
	for !holds(ctx) {
		if ctx.Err() != nil {
			t.Fatalf("not within %v: %s", serviceLimit, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func leaders(t *testing.T, c *process.Cluster, want ...string) {
	t.Helper()
	eventually(t, "the leaders are "+strings.Join(want, ", "), func(ctx context.Context) bool {
		got, err := c.Leaders(ctx)
		return err == nil && cmp.Equal(got, want)
	})
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
