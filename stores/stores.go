// Package stores is the guarded resource in a server of its own: what a client reads and writes while it holds a lock, and
// what the server refuses. It knows no lock, no fault and no history.
package stores

import (
	"context"
	"errors"
	"net"
	"time"
)

// Check is what a store does with the token or the version that comes with a request.
type Check string

// The checks. A request without a token passes any check of tokens.
const (
	// IgnoresToken takes everything.
	IgnoresToken Check = "ignores-token"
	// ChecksToken refuses a token below the highest that it has seen, on reads too, and takes one that is equal or higher; check
	// and write are one step of the server's.
	ChecksToken Check = "checks-token"
	// ChecksVersion takes a write only on top of the version that is there.
	ChecksVersion Check = "checks-version"
	// ChecksInTwoSteps is wrong on purpose: the client compares the tokens, and then writes, whatever came in between.
	ChecksInTwoSteps Check = "checks-token-in-two-steps"
)

// Checks are all of them.
func Checks() []Check { return []Check{IgnoresToken, ChecksToken, ChecksVersion, ChecksInTwoSteps} }

// Tokens says whether the check looks at them.
func (c Check) Tokens() bool { return c == ChecksToken || c == ChecksInTwoSteps }

// ErrRejected: the check refused the request, which had and will have no effect.
var ErrRejected = errors.New("the resource refused it")

// ErrUnavailable: nothing was sent, or the server refused before it did anything. Every other error is indefinite.
var ErrUnavailable = errors.New("the store is unavailable, nothing was done")

// State is what a resource is: a number with a version. The zero State was never written.
type State struct{ Version, N int64 }

// Write is one of the State {Value, N}, which was computed from version Base.
type Write struct {
	Token uint64 // 0: none
	Base  int64
	Value int64
	N     int64
}

// Store is the resources of one server as one client reaches them. Its methods may be called from several goroutines.
// A request is given up after the store's timeout, and is then of unknown outcome where it had been sent; it is never sent again.
type Store interface {
	// Read returns the resource of that name. Where tokens are checked it advances the mark: a write of an earlier holder could
	// else slip in between a holder's read and its write. token 0: none.
	Read(ctx context.Context, resource string, token uint64) (State, error)
	Write(ctx context.Context, resource string, w Write) error
	// Close drops the connections. It may be called twice.
	Close() error
}

// Options of a Store.
type Options struct {
	Addr  string // as the client dials it
	Check Check
	// Dial is used for every connection. nil: the net package's.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Timeout of one request. 0: DefaultTimeout.
	Timeout time.Duration
	// Gap is the time between the two steps of ChecksInTwoSteps. 0: DefaultGap.
	Gap time.Duration
}

const (
	DefaultTimeout = 3 * time.Second
	DefaultGap     = 150 * time.Millisecond // a render, a call to another service: what a program does once it knows that it may
)

// WithDefaults fills in what isn't set.
func (o Options) WithDefaults() Options {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Gap == 0 {
		o.Gap = DefaultGap
	}
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	return o
}

// Between passes the time between two steps; its error says that nothing was written yet.
func (o Options) Between(ctx context.Context) error {
	t := time.NewTimer(o.Gap)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return errors.Join(ErrUnavailable, ctx.Err())
	}
}

// FirstStep is an error of the first of two steps, after which nothing is written whatever became of it.
func FirstStep(err error) error {
	if errors.Is(err, ErrRejected) {
		return err
	}
	return errors.Join(ErrUnavailable, err)
}
