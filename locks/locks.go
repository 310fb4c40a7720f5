// Package locks holds what a lock is to the harness: the contracts that every provider implements and the classes of
// error that say whether something is certain. It knows no server and no fault.
package locks

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"time"

	"github.com/locktest/locktest/history"
)

// Claims is what a lock promises; it is the contract that the checker judges by.
type Claims = history.Contract

// Token is a fencing token. 0: none.
type Token uint64

// Provider is one kind of lock, such as redis/single. One value serves one run.
type Provider interface {
	// Open makes a client of its own. It dials no address but t's: only these go through links that can fail.
	Open(ctx context.Context, t Target) (Client, error)
	// Claims says what the lock promises for leases of ttl.
	Claims(ttl time.Duration) Claims
}

// Target is where a client finds its servers and what it may not take from the process: chance and a dialer.
type Target struct {
	Client string   // c1
	Addrs  []string // of the nodes, in order, as this client dials them
	// Dial is used for every connection. nil: the net package's.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Rand is this client's own source, for owner values and jitter; it is used by one goroutine at a time.
	Rand *rand.Rand
	Log  *slog.Logger // never nil
}

// Request is what is asked for.
type Request struct {
	Name    string
	TTL     time.Duration
	Wait    time.Duration // how long to try; 0: once
	Mode    string        // history.Exclusive (or empty), history.Shared
	Permits int           // of a semaphore; 0 counts as 1
}

// Client is one user of locks. Acquire may be called again while a lock is held; otherwise one goroutine uses a Client.
type Client interface {
	// Acquire tries for r.Wait and returns a lock, or an error.
	//
	// With an indefinite error it may also return a lock: not a grant, but the handle by which to clean up what may have
	// been granted, with Release. With a definite error the lock is nil.
	Acquire(ctx context.Context, r Request) (Lock, error)
	// Close drops the connections. It releases nothing: what becomes of what is held is worth testing.
	Close() error
}

// Lock is one grant.
type Lock interface {
	Owner() string         // what the service compares
	Token() Token          // 0: none
	TTL() time.Duration    // really granted
	ValidUntil() time.Time // zero: no lease, or not known
	// Lost is closed when the client learns that it no longer holds; nil where it can't learn that.
	Lost() <-chan struct{}
	// Release may be called again after any error; once it answered, ErrNotHeld is the answer to another call.
	Release(ctx context.Context) error
}

// Extender is a Lock whose lease the holder can extend.
type Extender interface {
	// Extend asks for ttl from now on. ErrNotHeld: the lease had ended or is somebody else's.
	Extend(ctx context.Context, ttl time.Duration) error
}
