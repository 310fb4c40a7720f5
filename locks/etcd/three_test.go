//go:build integration

package etcd_test

import (
	"strings"
	"testing"

	"github.com/locktest/locktest/cluster"
)

func TestThreeMembers(t *testing.T) {
	c, n := up(t, 3)
	ctx := t.Context()
	if got := c.Describe(); !strings.HasPrefix(got, "etcd ") || !strings.HasSuffix(got, ", 3 processes") {
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

	other := c.Nodes()[0].Name()
	if other == next {
		other = c.Nodes()[1].Name()
	}
	if err := node(c, other).(cluster.Promoter).Promote(ctx); err != nil {
		t.Fatalf("promote %s: %v", other, err)
	}
	if got := leader(t, c, ""); got != other {
		t.Errorf("%s leads after %s was promoted", got, other)
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
