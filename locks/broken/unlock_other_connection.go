package broken

import "github.com/locktest/locktest/locks"

// NewUnlockOtherConnection takes a session's lock on one connection of a pool and unlocks on another, where the answer is
// false, and ignores that (remind101/migrate#6, mattes/migrate PR 303, pressly/goose#191).
//
// Caught by: liveness
func NewUnlockOtherConnection() locks.Provider {
	return &pgMistake{lock: "SELECT pg_advisory_lock('%d')", unlock: "SELECT pg_advisory_unlock('%d')", at: 1}
}
