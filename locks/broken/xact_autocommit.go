package broken

import "github.com/locktest/locktest/locks"

// NewXactAutocommit takes a transaction's lock in a statement of its own: without a transaction around it the lock is gone
// when the statement ends (PostgreSQL documentation, "Advisory Locks").
//
// Caught by: mutual-exclusion
func NewXactAutocommit() locks.Provider {
	return &pgMistake{lock: "SELECT pg_advisory_xact_lock('%d')"}
}
