package etcd_test

import (
	"os"
	"testing"

	"github.com/locktest/locktest/cluster/etcdd"
	server "github.com/locktest/locktest/locks/etcd"
	"github.com/locktest/locktest/stores"
	"github.com/locktest/locktest/stores/etcd"
	"github.com/locktest/locktest/stores/storestest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == server.ChildArg {
		etcdd.Main(os.Args[2:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	storestest.Run(t, storestest.Kit{Service: server.Service(etcdd.Version), New: func(o stores.Options) stores.Store { return etcd.New(o) }})
}
