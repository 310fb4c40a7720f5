package memory_test

import (
	"testing"
	"time"

	"github.com/locktest/locktest/locks"
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

func TestModes(t *testing.T) {
	for name, new := range map[string]func() locks.Provider{
		"rwlock":    func() locks.Provider { return memory.NewRWLock() },
		"semaphore": func() locks.Provider { return memory.NewSemaphore(3) },
		"reentrant": func() locks.Provider { return memory.NewReentrant(3) },
	} {
		t.Run(name, func(t *testing.T) {
			lockstest.Run(t, func(*testing.T) lockstest.Kit {
				return lockstest.Kit{Provider: new(), TTL: 200 * time.Millisecond}
			})
		})
	}
}
