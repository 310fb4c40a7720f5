// Package redis holds locks in Redis: on one server (single, reentrant, rwlock, semaphore, fair), on a majority of
// independent ones (redlock), and on a primary with replicas (replicated, sentinel), and how the servers are started. It
// knows how a lock is taken and kept; what happens to servers and links meanwhile is not its business.
package redis

import "github.com/locktest/locktest/locks"

// NewSingle makes redis/single: SET NX PX on one server, with an owner value of its own for each acquire,
// compare-and-delete, compare-and-expire, and a token that is counted in the step that grants.
func NewSingle(o Options) locks.Provider {
	return &scripted{name: "redis/single", options: o, acquire: acquireScript, release: releaseScript, extend: extendScript,
		keys: func(name string) []string { return []string{Key(name), TokenKey(name)} }}
}

// Key is where the lock of that name is kept.
func Key(name string) string { return "lock:{" + name + "}" }

// TokenKey is where its tokens are counted.
func TokenKey(name string) string { return Key(name) + ":token" }
