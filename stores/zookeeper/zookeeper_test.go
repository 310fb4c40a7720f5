package zookeeper_test

import (
	"testing"

	server "github.com/locktest/locktest/locks/zookeeper"
	"github.com/locktest/locktest/stores"
	"github.com/locktest/locktest/stores/storestest"
	"github.com/locktest/locktest/stores/zookeeper"
)

func TestConformance(t *testing.T) {
	storestest.Run(t, storestest.Kit{Service: server.Service(), New: func(o stores.Options) stores.Store { return zookeeper.New(o) }})
}
