//go:build integration

package zookeeper_test

import (
	"strings"
	"testing"

	"github.com/locktest/locktest/cluster"
)

func TestThreeServers(t *testing.T) {
	c, n := up(t, 3)
	ctx := t.Context()
	if got := c.Describe(); !strings.HasPrefix(got, "ZooKeeper ") || !strings.HasSuffix(got, ", 3 processes") {
		t.Errorf("Describe() = %q", got)
	}
	if d := direct(t, c); len(d) > 0 {
		t.Errorf("connections that bypass the links: %v", d)
	}

	old := leader(t, c, "")
	if err := node(c, old).(cluster.Killer).Kill(ctx); err != nil {
		t.Fatal(err)
	}
	next := leader(t, c, old)
	if err := node(c, old).(cluster.Killer).Restart(ctx, cluster.Empty); err != nil {
		t.Fatalf("restart %s without data: %v", old, err)
	}
	awaitFollower(t, c, old)

	other := leader(t, c, "")
	if other != next {
		t.Errorf("%s leads after %s came back, %s before", other, old, next)
	}
	var links []cluster.Link
	for _, m := range c.Nodes() {
		if m.Name() != other {
			links = append(links, cluster.Both(other, m.Name())...)
		}
	}
	if err := n.Set(ctx, cluster.Condition{Mode: cluster.Hold}, links...); err != nil {
		t.Fatal(err)
	}
	if third := leader(t, c, other); third == other {
		t.Errorf("%s still leads", third)
	}
	if err := n.Set(ctx, cluster.Condition{}, links...); err != nil {
		t.Fatal(err)
	}
	awaitFollower(t, c, other)
	if d := direct(t, c); len(d) > 0 {
		t.Errorf("after all that, connections that bypass the links: %v", d)
	}
}
