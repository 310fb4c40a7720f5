//go:build integration

package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/process"
)

func TestReplicaFollowsThroughItsLink(t *testing.T) {
	c, net := up(t, process.Options{Nodes: 2})
	n1, n2 := c.Nodes()[0], c.Nodes()[1]
	ctx := t.Context()
	clustertest.Leaders(t, c, "n1")
	if err := put(ctx, n1.Addr(), "a", "1"); err != nil {
		t.Fatal(err)
	}
	kept(t, n2, "a", "1")

	if err := net.Set(ctx, cluster.Condition{Mode: cluster.Hold}, cluster.Both("n1", "n2")...); err != nil {
		t.Fatal(err)
	}
	if err := put(ctx, n1.Addr(), "a", "2"); err != nil {
		t.Fatal(err)
	}
	if got, _, err := get(ctx, n2.Addr(), "a"); err != nil || got != "1" {
		t.Errorf("behind a held link the replica has %q, %v", got, err)
	}
	if err := net.Set(ctx, cluster.Condition{}, cluster.Both("n1", "n2")...); err != nil {
		t.Fatal(err)
	}
	kept(t, n2, "a", "2")
}

// The primary knows nothing of a promotion, and both grant the same lock.
func TestPromotedReplicaGrantsWhatThePrimaryHas(t *testing.T) {
	c, net := up(t, process.Options{Nodes: 2})
	n2 := c.Nodes()[1]
	a := client(t, "c1", net.Addr("c1", "n1"), net.Addr("c1", "n2"))
	held := acquire(t, a)
	if err := net.Set(t.Context(), cluster.Condition{Mode: cluster.Refuse}, cluster.Both("c2", "n1")...); err != nil {
		t.Fatal(err)
	}
	if err := n2.(cluster.Promoter).Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n2.(cluster.Promoter).Promote(t.Context()); err != nil {
		t.Errorf("again: %v", err)
	}
	clustertest.Leaders(t, c, "n1", "n2")
	again := acquire(t, client(t, "c2", net.Addr("c2", "n1"), net.Addr("c2", "n2")))
	for _, l := range []interface{ Release(context.Context) error }{held, again} {
		if err := l.Release(t.Context()); err != nil {
			t.Errorf("one of two holders doesn't hold: %v", err)
		}
	}
}

func TestPrimaryThatComesBackEmptyClonesTheNewOne(t *testing.T) {
	c, _ := up(t, process.Options{Nodes: 2})
	n1, n2 := c.Nodes()[0], c.Nodes()[1]
	ctx := t.Context()
	if err := put(ctx, n1.Addr(), "a", "1"); err != nil {
		t.Fatal(err)
	}
	kept(t, n2, "a", "1")
	if err := n1.(cluster.Killer).Kill(ctx); err != nil {
		t.Fatal(err)
	}
	if err := n2.(cluster.Promoter).Promote(ctx); err != nil {
		t.Fatal(err)
	}
	if err := put(ctx, n2.Addr(), "a", "2"); err != nil {
		t.Fatal(err)
	}
	if err := n1.(cluster.Killer).Restart(ctx, cluster.Empty); err != nil {
		t.Fatal(err)
	}
	clustertest.Leaders(t, c, "n2")
	kept(t, n1, "a", "2")
}

func TestPooler(t *testing.T) {
	for mode, want := range map[string]string{"session": "held", "transaction": "granted twice"} {
		t.Run(mode, func(t *testing.T) {
			c, net := up(t, process.Options{Nodes: 2, Server: map[string]string{"pooler": mode}})
			clustertest.Leaders(t, c, "n2")
			a, b := client(t, "c1", net.Addr("c1", "n1")), client(t, "c2", net.Addr("c2", "n1"))
			acquire(t, a)
			got := "granted twice"
			if _, err := b.Acquire(t.Context(), request()); err != nil {
				got = "held"
			}
			if got != want {
				t.Errorf("a held lock is %s, want %s", got, want)
			}
			if now, err := c.Nodes()[1].(cluster.Clocked).Time(t.Context()); err != nil || time.Since(now).Abs() > limit {
				t.Errorf("the server's time is %v, %v", now, err)
			}
			if _, err := c.Nodes()[0].(cluster.Clocked).Time(t.Context()); err == nil {
				t.Error("a pooler tells a time")
			}
		})
	}
}
