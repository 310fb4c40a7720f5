//go:build integration

package postgres_test

import (
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/locks/postgres"
)

// Each node of several has its own data: only peers replicate.
func TestServerConformance(t *testing.T) {
	clustertest.Run(t, clustertest.Kit{
		New: func(t *testing.T) cluster.Cluster {
			s := postgres.Service()
			s.Peering = nil
			c, err := process.New(process.Options{Service: s, Nodes: 2, Spawner: clustertest.Spawner(t), LogDir: t.TempDir()})
			if err != nil {
				t.Fatalf("%v; make deps installs it", err)
			}
			return c
		},
		Put: put, Get: get, KeepsData: true,
	})
}

// The table of start-to-ready times and memory.
func TestStartTimes(t *testing.T) {
	for _, shape := range []struct {
		name  string
		nodes int
		pool  string
	}{{"single", 1, ""}, {"primary and replica", 2, ""}, {"PgBouncer, transaction", 2, "transaction"}, {"PgBouncer, session", 2, "session"}} {
		t.Run(shape.name, func(t *testing.T) {
			o := process.Options{Nodes: shape.nodes}
			if shape.pool != "" {
				o.Server = map[string]string{"pooler": shape.pool}
			}
			began := time.Now()
			c, _ := up(t, o)
			took := time.Since(began)
			for _, n := range c.Nodes() {
				rss, err := clustertest.Memory(n.(cluster.Pidded).Pid())
				if err != nil || rss == 0 {
					t.Errorf("memory of %s: %d, %v", n.Name(), rss, err)
				}
				t.Logf("%s: ready %.2f s after its start; %s has %.1f MiB", shape.name, took.Seconds(), n.Name(), float64(rss)/(1<<20))
			}
		})
	}
}
