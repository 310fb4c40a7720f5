package redis

import (
	"fmt"
	"strconv"
	"time"

	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/internal/redisconn"
)

// drift is what is taken off the validity of a lease of ttl: its share, and 2 ms for Redis's expiry of 1 ms precision.
func drift(ttl time.Duration) time.Duration { return locks.Drift(ttl) + 2*time.Millisecond }

// Options of the locks in this package. Zero values are the defaults.
type Options struct {
	// Timeout of one command. Default: a tenth of the TTL but at least 50 ms for redis/redlock, the TTL for the others.
	Timeout time.Duration
	// Retry is the mean time between two tries while waiting. Default 20 ms for redis/redlock, 10 ms for the others.
	Retry time.Duration
	// Wait is how many replicas have to acknowledge a grant. Default 1 for redis/replicated, 0 for redis/sentinel; others have none.
	Wait    int
	HasWait bool
	// Renew is how often the lease of a holder of redis/single, fair, rwlock or semaphore is extended in the background. 0: never.
	Renew time.Duration
	// Quorum is how many nodes redis/redlock needs. Default: more than half. Less than that, or clients that differ, is unsafe.
	Quorum int
	// Limit is how many permits there are, or how often the holder may take the lock. Default 3.
	Limit int
	// Patience is how long a waiter in a queue may be silent before it is taken for dead. Default 500 ms, or half the TTL if
	// that is longer.
	Patience time.Duration
	// WaitTimeout is how long they may take. Default: a fifth of the TTL, at least 20 ms.
	WaitTimeout time.Duration
}

// OptionNames are the names that a scenario can give under lock.options of every lock on single servers.
func OptionNames() []string { return []string{"retry", "timeout"} }

// ReplicatedOptionNames are those of redis/replicated and redis/sentinel.
func ReplicatedOptionNames() []string { return []string{"retry", "timeout", "wait", "wait-timeout"} }

// ParseOptions reads lock.options of a scenario.
func ParseOptions(m map[string]string) (Options, error) {
	var o Options
	for name, to := range map[string]*time.Duration{"timeout": &o.Timeout, "retry": &o.Retry, "patience": &o.Patience, "renew": &o.Renew, "wait-timeout": &o.WaitTimeout} {
		text, ok := m[name]
		if !ok {
			continue
		}
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return Options{}, fmt.Errorf("option %s: %q is not a duration above zero, such as 50ms", name, text)
		}
		*to = d
	}
	for name, to := range map[string]*int{"limit": &o.Limit, "quorum": &o.Quorum} {
		text, ok := m[name]
		if !ok {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return Options{}, fmt.Errorf("option %s: %q is not a number above 0", name, text)
		}
		*to = n
	}
	if text, ok := m["wait"]; ok {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return Options{}, fmt.Errorf("option wait: %q is not a number of replicas", text)
		}
		o.Wait, o.HasWait = n, true
	}
	return o, nil
}

// millis is ttl in whole milliseconds, at least 1, as Redis counts it.
func millis(ttl time.Duration) int64 { return max(1, ttl.Milliseconds()) }

// Quiet stops the client library from writing to standard error by itself. It sets a variable of that library, so it is
// for main functions to call.
func Quiet() { redisconn.Quiet() }
