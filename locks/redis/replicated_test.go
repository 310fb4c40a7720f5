package redis_test

import (
	"context"
	"errors"
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
	"github.com/locktest/locktest/locks/redis"
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

func TestReplicated(t *testing.T) {
	conformShared(t, redis.NewReplicated(redis.Options{}), redis.ReplicatedService(), 2)
}

func TestSentinel(t *testing.T) {
	conformShared(t, redis.NewSentinel(redis.Options{}), redis.SentinelService(), 5)
}

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

func TestGrantWithoutReplicasIsUndone(t *testing.T) {
	c, net := up(t, redis.ReplicatedService(), 2)
	client := open(t, redis.NewReplicated(redis.Options{WaitTimeout: 300 * time.Millisecond}), "c1", c, net)
	if err := net.Set(t.Context(), cluster.Condition{Mode: cluster.Hold}, cluster.Both("n1", "n2")...); err != nil {
		t.Fatal(err)
	}
	l, err := client.Acquire(t.Context(), request(time.Hour))
	if !errors.Is(err, locks.ErrUnavailable) || l != nil {
		t.Fatalf("without a replica: %v, %v", l, err)
	}
	if n, err := serverClient(t, c.Nodes()[0].Addr()).Exists(t.Context(), redis.Key("orders")).Result(); n != 0 || err != nil {
		t.Errorf("the grant wasn't undone: %d, %v", n, err)
	}
	if err := net.Set(t.Context(), cluster.Condition{}, cluster.Both("n1", "n2")...); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a grant after healing", func(ctx context.Context) bool {
		_, err := client.Acquire(ctx, request(time.Hour))
		return err == nil
	})
	if n, err := serverClient(t, c.Nodes()[1].Addr()).Exists(t.Context(), redis.Key("orders")).Result(); n != 1 || err != nil {
		t.Errorf("an acknowledged grant isn't at the replica: %d, %v", n, err)
	}
}

// An asynchronous replica that is promoted grants again what its primary had granted.
func TestPromotedReplicaGrantsWhatItNeverHeardOf(t *testing.T) {
	c, net := up(t, redis.ReplicatedService(), 3)
	p := redis.NewReplicated(redis.Options{HasWait: true})
	if err := net.Set(t.Context(), cluster.Condition{Mode: cluster.Hold}, cluster.Both("n1", "n2")...); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, p, "c1", c, net).Acquire(t.Context(), request(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := c.Nodes()[0].(cluster.Killer).Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Nodes()[1].(cluster.Promoter).Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	leaders(t, c, "n2")
	if _, err := open(t, p, "c2", c, net).Acquire(t.Context(), request(time.Hour)); err != nil {
		t.Errorf("the promoted replica: %v", err)
	}
	if err := c.Nodes()[0].(cluster.Killer).Restart(t.Context(), cluster.WithData); err != nil {
		t.Fatal(err)
	}
	leaders(t, c, "n1", "n2") // nobody told the old one
	eventually(t, "n3 follows n2", func(ctx context.Context) bool {
		info, err := serverClient(t, c.Nodes()[2].Addr()).Info(ctx, "replication").Result()
		return err == nil && strings.Contains(info, "master_host:n2.locktest") && strings.Contains(info, "master_link_status:up")
	})
}
