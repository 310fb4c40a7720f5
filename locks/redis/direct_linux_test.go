//go:build integration

package redis_test

import (
	"testing"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/locks/redis"
)

// Neither replication nor Sentinels go past the links, before a failover and after it.
func TestNothingBypassesTheLinks(t *testing.T) {
	c, net := up(t, redis.SentinelService(), 5)
	var addrs []string
	for _, n := range c.Nodes() {
		addrs = append(addrs, n.Addr())
	}
	if _, err := open(t, redis.NewSentinel(redis.Options{}), "c1", c, net).Acquire(t.Context(), request(ttl)); err != nil {
		t.Fatal(err)
	}
	clustertest.NoneDirect(t, "after the start", addrs...)
	if err := c.Nodes()[1].(cluster.Promoter).Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	clustertest.Leaders(t, c, "n2")
	clustertest.NoneDirect(t, "after a failover", addrs...)
}
