//go:build integration

package redis_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/redis"
)

func TestReplicated(t *testing.T) {
	conformShared(t, redis.NewReplicated(redis.Options{}), redis.ReplicatedService(), 2)
}

func TestSentinel(t *testing.T) {
	conformShared(t, redis.NewSentinel(redis.Options{}), redis.SentinelService(), 5)
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
	clustertest.Eventually(t, "a grant after healing", func(ctx context.Context) bool {
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
	clustertest.Leaders(t, c, "n2")
	if _, err := open(t, p, "c2", c, net).Acquire(t.Context(), request(time.Hour)); err != nil {
		t.Errorf("the promoted replica: %v", err)
	}
	if err := c.Nodes()[0].(cluster.Killer).Restart(t.Context(), cluster.WithData); err != nil {
		t.Fatal(err)
	}
	clustertest.Leaders(t, c, "n1", "n2") // nobody told the old one
	clustertest.Eventually(t, "n3 follows n2", func(ctx context.Context) bool {
		info, err := serverClient(t, c.Nodes()[2].Addr()).Info(ctx, "replication").Result()
		return err == nil && strings.Contains(info, "master_host:n2.locktest") && strings.Contains(info, "master_link_status:up")
	})
}
