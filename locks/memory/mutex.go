package memory

import (
	"context"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// Mutex is memory/mutex: a lock without a lease. A holder that dies keeps it for ever.
type Mutex struct{ table *table }

// NewMutex makes a lock service of its own.
func NewMutex() *Mutex { return &Mutex{newTable(nil)} }

// Open makes a client of this service.
func (m *Mutex) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	return &client{table: m.table, name: t.Client}, nil
}

// Claims ignores ttl.
func (m *Mutex) Claims(time.Duration) locks.Claims {
	return locks.Claims{Expiry: history.NoExpiry, Tokens: history.PerGrant, OwnerChecked: true, ReleaseHeld: true, Blocking: true}
}
