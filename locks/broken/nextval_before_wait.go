package broken

import "github.com/locktest/locktest/locks"

// NewNextvalBeforeWait draws the fencing token from a sequence before it waits for the lock: tokens stand in the order of the
// questions, not of the grants (compare AmrSaber/simple-redis-mutex#15, whose counter is apart as well).
//
// Caught by: fencing
func NewNextvalBeforeWait() locks.Provider {
	return &pgMistake{token: "SELECT nextval('broken_tokens')", lock: "SELECT pg_advisory_lock('%d')", unlock: "SELECT pg_advisory_unlock('%d')"}
}
