package postgres_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/cluster/proxy"
	"github.com/locktest/locktest/locks/postgres"
)

// up starts several nodes and the links between them and two clients.
func up(t *testing.T, o process.Options) (*process.Cluster, cluster.PeerNetwork) {
	t.Helper()
	o.Service, o.Spawner, o.LogDir = postgres.Service(), spawner(t), t.TempDir()
	c, err := process.New(o)
	if err != nil {
		t.Fatalf("%v; make deps installs it", err)
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

// eventually polls until what holds.
func eventually(t *testing.T, what string, holds func(ctx context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for !holds(ctx) {
		if ctx.Err() != nil {
			t.Fatalf("not within %v: %s", limit, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func kept(t *testing.T, n cluster.Node, key, want string) {
	t.Helper()
	eventually(t, n.Name()+" has "+key, func(ctx context.Context) bool {
		got, _, err := get(ctx, n.Addr(), key)
		return err == nil && got == want
	})
}

func leaders(t *testing.T, c *process.Cluster, want ...string) {
	t.Helper()
	var got []string
	eventually(t, "the leaders are "+strings.Join(want, ", "), func(ctx context.Context) bool {
		var err error
		got, err = c.Leaders(ctx)
		return err == nil && cmp.Equal(got, want)
	})
}

func TestPoolerAloneIsRefused(t *testing.T) {
	c, err := process.New(process.Options{Service: postgres.Service(), Nodes: 1, Server: map[string]string{"pooler": "session"}, Spawner: spawner(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "a pooler alone") {
		t.Errorf("Start() = %v", err)
	}
}
