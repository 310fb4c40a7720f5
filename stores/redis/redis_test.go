package redis_test

import (
	"testing"

	server "github.com/locktest/locktest/locks/redis"
	"github.com/locktest/locktest/stores"
	"github.com/locktest/locktest/stores/redis"
	"github.com/locktest/locktest/stores/storestest"
)

func TestConformance(t *testing.T) {
	storestest.Run(t, storestest.Kit{Service: server.Service(), New: func(o stores.Options) stores.Store { return redis.New(o) }})
}
