package broken

import "github.com/locktest/locktest/locks"

// NewSharedOwner compares an owner value that all clients of a host share, its name: a late release of one client takes
// the lock from another (aredis, NoneGG/aredis#119, where coroutines share a thread's value).
//
// Caught by: mutual-exclusion
func NewSharedOwner() locks.Provider {
	return &mistake{grant: rightGrant, owner: func(locks.Target) string { return "app-server-1" }}
}
