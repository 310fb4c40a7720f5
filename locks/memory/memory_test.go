package memory_test

import (
	"testing"
	"time"

	"github.com/locktest/locktest/locks/lockstest"
	"github.com/locktest/locktest/locks/memory"
)

func TestLease(t *testing.T) {
	lockstest.Run(t, func(*testing.T) lockstest.Kit {
		return lockstest.Kit{Provider: memory.NewLease(), TTL: 200 * time.Millisecond}
	})
}

func TestMutex(t *testing.T) {
	lockstest.Run(t, func(*testing.T) lockstest.Kit {
		return lockstest.Kit{Provider: memory.NewMutex(), TTL: 200 * time.Millisecond}
	})
}
