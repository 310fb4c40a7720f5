//go:build integration

package postgres_test

import (
	"testing"

	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/process"
)

// Neither replication nor a pooler goes past the links.
func TestNothingBypassesTheLinks(t *testing.T) {
	c, net := up(t, process.Options{Nodes: 3, Server: map[string]string{"pooler": "session"}})
	var addrs []string
	for _, n := range c.Nodes() {
		addrs = append(addrs, n.Addr())
	}
	acquire(t, client(t, "c1", net.Addr("c1", "n1")))
	if err := put(t.Context(), c.Nodes()[1].Addr(), "a", "1"); err != nil {
		t.Fatal(err)
	}
	kept(t, c.Nodes()[2], "a", "1")
	clustertest.NoneDirect(t, "with two that replicate and a pooler", addrs...)
}
