// Package locks holds what a lock is to the harness: the contracts that every provider implements and the classes of
// error that say whether something is certain. It knows no server and no fault.
package locks

import (
	"context"
	"crypto/tls"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/internal/access"
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
	// Rand is this client's own source, for owner values and jitter; it is used by one goroutine at a time, unless it is a
	// SharedRand and the client one for several threads.
	Rand *rand.Rand
	Log  *slog.Logger // never nil
	// Access is how servers that aren't ours let the client in; the zero Access where anybody may enter.
	Access access.Access
	// Servers are the hosts that the nodes really are at, in the order of Addrs, by which TLS knows them; nil: those of Addrs.
	Servers []string
}

// TLS is how to speak at one of Addrs; nil: plainly.
func (t Target) TLS(addr string) *tls.Config {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	if i := slices.Index(t.Addrs, addr); i >= 0 && i < len(t.Servers) {
		host = t.Servers[i]
	}
	return t.Access.TLS(host)
}

// Connect dials one of Addrs, and is through with TLS where that is spoken from the start. Its errors are those of dialing: nothing
// that a lock wants was sent.
func (t Target) Connect(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := t.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	conn, err := dial(ctx, network, addr)
	config := t.TLS(addr)
	if err != nil || config == nil {
		return conn, err
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	return secure, nil
}

// Discreet is a Client whose errors may have to be told without secrets.
type Discreet interface{ Redact(text string) string }

// Guard returns c as a Discreet one, where there is something to be kept.
func Guard(c Client, r access.Redactor) Client {
	if r.None() || c == nil {
		return c
	}
	return guarded{c, r}
}

type guarded struct {
	Client
	redactor access.Redactor
}

func (g guarded) Redact(text string) string { return g.redactor.Text(text) }

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
	// Close drops the connections, and no call makes another one. It releases nothing: what becomes of what is held is worth testing.
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
