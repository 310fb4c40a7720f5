package postgres_test

import (
	"context"
	"strings"
	"testing"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/locks/postgres"
)

// up starts several nodes and the links between them and two clients.
func up(t *testing.T, o process.Options) (*process.Cluster, cluster.PeerNetwork) {
	t.Helper()
	o.Service = postgres.Service()
	c, net := clustertest.Up(t, o, "c1", "c2")
	return c, net
}

func kept(t *testing.T, n cluster.Node, key, want string) {
	t.Helper()
	clustertest.Eventually(t, n.Name()+" has "+key, func(ctx context.Context) bool {
		got, _, err := get(ctx, n.Addr(), key)
		return err == nil && got == want
	})
}

func TestPoolerAloneIsRefused(t *testing.T) {
	c, err := process.New(process.Options{Service: postgres.Service(), Nodes: 1, Server: map[string]string{"pooler": "session"}, Spawner: clustertest.Spawner(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "a pooler alone") {
		t.Errorf("Start() = %v", err)
	}
}
