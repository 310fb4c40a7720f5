//go:build integration

package zookeeper_test

import (
	"testing"

	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/locks/zookeeper"
)

func TestThreeServers(t *testing.T) {
	clustertest.Quorum(t, zookeeper.Service(), "ZooKeeper", "quorum", "election")
}
