package postgres_test

import (
	"testing"

	server "github.com/locktest/locktest/locks/postgres"
	"github.com/locktest/locktest/stores"
	"github.com/locktest/locktest/stores/postgres"
	"github.com/locktest/locktest/stores/storestest"
)

func TestConformance(t *testing.T) {
	storestest.Run(t, storestest.Kit{Service: server.Service(), New: func(o stores.Options) stores.Store { return postgres.New(o) }})
}
