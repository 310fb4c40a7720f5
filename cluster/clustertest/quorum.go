package clustertest

import (
	"strings"
	"testing"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/process"
)

// OneNode tests a service that elects a leader with one node alone: killed and restarted, with its data or without, it
// leads again.
func OneNode(t *testing.T, s cluster.Service) {
	c, _ := Up(t, process.Options{Service: s, Nodes: 1})
	n := c.Nodes()[0]
	for _, with := range []cluster.Restart{cluster.WithData, cluster.Empty} {
		if err := n.(cluster.Killer).Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := n.(cluster.Killer).Restart(t.Context(), with); err != nil {
			t.Fatal(err)
		}
		Leaders(t, c, "n1")
	}
}

// Quorum tests a service that elects a leader with three nodes: another leads while the leader is down, one that lost its
// data learns the others', a chosen one leads where the service lets one choose, a leader without a link to the others
// doesn't, and no connection to the ports, which are those for peers, bypasses the links.
func Quorum(t *testing.T, s cluster.Service, name string, ports ...string) {
	c, net := Up(t, process.Options{Service: s, Nodes: 3})
	ctx := t.Context()
	if got := c.Describe(); !strings.HasPrefix(got, name+" ") || !strings.HasSuffix(got, ", 3 processes") {
		t.Errorf("Describe() = %q", got)
	}
	var peers []string
	for _, n := range c.Nodes() {
		for _, p := range ports {
			peers = append(peers, n.(cluster.Ported).PortAddr(p))
		}
	}
	NoneDirect(t, "after the start", peers...)

	old := Leader(t, c, "")
	if err := Node(c, old).(cluster.Killer).Kill(ctx); err != nil {
		t.Fatal(err)
	}
	next := Leader(t, c, old)
	if err := Node(c, old).(cluster.Killer).Restart(ctx, cluster.Empty); err != nil {
		t.Fatalf("restart %s without data: %v", old, err)
	}
	Formed(t, c, s)
	Leaders(t, c, next)

	if chosen := c.Nodes()[0]; chosen.(cluster.Promoter).CanPromote() == nil {
		if chosen.Name() == next {
			chosen = c.Nodes()[1]
		}
		next = chosen.Name()
		if err := chosen.(cluster.Promoter).Promote(ctx); err != nil {
			t.Fatalf("promote %s: %v", next, err)
		}
		Leaders(t, c, next)
	}

	var apart []cluster.Link
	for _, n := range c.Nodes() {
		if n.Name() != next {
			apart = append(apart, cluster.Both(next, n.Name())...)
		}
	}
	if err := net.Set(ctx, cluster.Condition{Mode: cluster.Hold}, apart...); err != nil {
		t.Fatal(err)
	}
	Leader(t, c, next)
	if err := net.Set(ctx, cluster.Condition{}, apart...); err != nil {
		t.Fatal(err)
	}
	Formed(t, c, s)
	NoneDirect(t, "after all that", peers...)
}
