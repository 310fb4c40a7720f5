package etcd_test

import (
	"os"
	"testing"

	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/etcdd"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/cluster/proxy"
	"github.com/locktest/locktest/locks/etcd"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == etcd.ChildArg {
		etcdd.Main(os.Args[2:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// up starts members, and the links among them and to c1 and c2.
func up(t *testing.T, nodes int) (*process.Cluster, *proxy.Network) {
	t.Helper()
	return clustertest.Up(t, process.Options{Service: etcd.Service(etcdd.Version), Nodes: nodes}, "c1", "c2")
}

func TestOneMemberKeepsItsData(t *testing.T) {
	clustertest.OneNode(t, etcd.Service(etcdd.Version))
}
