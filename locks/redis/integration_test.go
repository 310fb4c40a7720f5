//go:build integration

package redis_test

import (
	"context"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/locks/redis"
)

func TestSentinelsReplaceADeadPrimary(t *testing.T) {
	c, net := up(t, redis.SentinelService(), 5)
	clustertest.Leaders(t, c, "n1")
	client := open(t, redis.NewSentinel(redis.Options{}), "c1", c, net)
	l, err := client.Acquire(t.Context(), request(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Nodes()[0].(cluster.Killer).Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	clustertest.Leaders(t, c, "n2")
	clustertest.Eventually(t, "a grant by the new primary", func(ctx context.Context) bool {
		_, err := client.Acquire(ctx, request(time.Second))
		return err == nil
	})
}

func TestSentinelsFailOverToAReplicaOfChoice(t *testing.T) {
	c, _ := up(t, redis.SentinelService(), 6)
	if err := c.Nodes()[2].(cluster.Promoter).Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	clustertest.Leaders(t, c, "n3")
	if err := c.Nodes()[5].(cluster.Promoter).Promote(t.Context()); err == nil {
		t.Error("a Sentinel was promoted")
	}
}

// The table of start-to-ready times and memory.
func TestStartTimes(t *testing.T) {
	for _, shape := range []struct {
		name    string
		service cluster.Service
		nodes   int
	}{{"single", redis.Service(), 1}, {"five independent", redis.Service(), 5}, {"primary and two replicas", redis.ReplicatedService(), 3}, {"primary, replica, three Sentinels", redis.SentinelService(), 5}} {
		t.Run(shape.name, func(t *testing.T) {
			began := time.Now()
			c, _ := up(t, shape.service, shape.nodes)
			took := time.Since(began)
			total := uint64(0)
			for _, n := range c.Nodes() {
				rss, err := clustertest.Memory(n.(cluster.Pidded).Pid())
				if err != nil || rss == 0 {
					t.Errorf("memory of %s: %d, %v", n.Name(), rss, err)
				}
				total += rss
			}
			t.Logf("%s: ready %.2f s after the start; %.1f MiB a process", shape.name, took.Seconds(), float64(total)/float64(shape.nodes)/(1<<20))
		})
	}
}
