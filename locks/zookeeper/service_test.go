package zookeeper_test

import (
	"testing"

	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/cluster/proxy"
	"github.com/locktest/locktest/locks/zookeeper"
)

// up starts servers, and the links among them and to c1 and c2.
func up(t *testing.T, nodes int) (*process.Cluster, *proxy.Network) {
	t.Helper()
	return clustertest.Up(t, process.Options{Service: zookeeper.Service(), Nodes: nodes}, "c1", "c2")
}

func TestOneServer(t *testing.T) { clustertest.OneNode(t, zookeeper.Service()) }
