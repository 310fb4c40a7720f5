// Package clients is the users of locks: OS processes that speak the client protocol, or parts of this process. It knows
// the protocol and the contracts of locks; it knows no server, no fault, and nothing of histories.
package clients

import (
	"context"
	"errors"
	"time"

	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/stores"
)

// Client is one user of locks, as the harness drives it. Requests of one thread come one at a time.
type Client interface {
	Name() string
	// Do sends a request and returns the reply, however late. ErrDead: the client was killed or has ended, and whatever
	// it was doing may have taken effect. *AdapterError: the client is at fault. Otherwise ctx's error.
	Do(ctx context.Context, r Request) (Reply, error)
	// Await returns nil once the client lives, at once if it does.
	Await(ctx context.Context) error
}

// ErrDead says that the client doesn't live any more.
var ErrDead = errors.New("client is dead")

// Op is what a request asks for.
type Op string

// The operations of the protocol.
const (
	OpHello   Op = "hello"
	OpAcquire Op = "acquire"
	OpRead    Op = "read" // of a guarded resource that the client reads itself
	OpWork    Op = "work" // its reply is the write to the guarded resource, unless the client writes itself
	OpExtend  Op = "extend"
	OpRelease Op = "release"
	OpCancel  Op = "cancel" // the acquire with the id Target
	OpRenew   Op = "renew"  // background renewal is to stop, or to go on, by Mode
)

// Request is one line from the harness. Durations are whole milliseconds on the wire.
type Request struct {
	ID     int64
	Op     Op
	Thread int
	Grant  int // which acquire this belongs to
	Lock   string
	TTL    time.Duration
	Wait   time.Duration
	Mode   string
	Permit int
	Target int64 // of cancel

	// Of read and work.
	Resource string
	Token    uint64 // of the grant, for a client that reads and writes itself; 0: none
	Base     int64
	Value    int64
	N        int64 // what is written, for a client that writes itself
}

// Modes of OpRenew.
const (
	PauseRenewal  = "pause"
	ResumeRenewal = "resume"
)

// Result is how a request ended.
type Result string

const (
	OK          Result = "ok"
	Busy        Result = "busy"        // acquire: somebody else has it, definitely
	Lost        Result = "lost"        // extend, release, work: it is not held any more, definitely
	Rejected    Result = "rejected"    // read, work: the resource refused it, definitely
	Unavailable Result = "unavailable" // nothing was sent: it has no effect and never will
	Unknown     Result = "unknown"     // anything else
)

// Reply is one line from a client.
type Reply struct {
	ID     int64
	Result Result
	Token  locks.Token
	Owner  string
	TTL    time.Duration // really granted; 0: as asked for
	Until  time.Time     // until when the client believes that its lease lasts; zero: it doesn't say
	Error  string
	Value  int64 // of read: the version that is there, 0: never written
	N      int64 // of read: what is there
	// Handle: with Unknown, a release of this grant will be understood.
	Handle bool
}

// Event is what a client tells unasked.
type Event struct {
	Kind   EventKind
	Client string
	Grant  int
	Lock   string
	Until  time.Time     // of Renewed
	Late   time.Duration // of Stalled
}

// EventKind is the word in the protocol.
type EventKind string

const (
	LostEvent EventKind = "lost"    // the client learnt that Grant is not held any more
	Renewed   EventKind = "renewed" // background renewal moved the lease of Grant to Until
	Stalled   EventKind = "stalled" // a timer in the client came late by Late
)

// AdapterError is a client that broke the protocol or died by itself.
type AdapterError struct {
	Client  string
	Message string
	Details []string
}

func (e *AdapterError) Error() string {
	s := "client " + e.Client + ": " + e.Message
	for _, d := range e.Details {
		s += "; " + d
	}
	return s
}

// resultOf turns the error of a lock or a store into the word of the protocol.
func resultOf(err error) Result {
	switch {
	case err == nil:
		return OK
	case errors.Is(err, locks.ErrHeld):
		return Busy
	case errors.Is(err, locks.ErrNotHeld):
		return Lost
	case errors.Is(err, stores.ErrRejected):
		return Rejected
	case errors.Is(err, locks.ErrUnavailable), errors.Is(err, stores.ErrUnavailable):
		return Unavailable
	}
	return Unknown
}

// codeAtFault is the code of an AdapterError.
const codeAtFault = "LT202"

// Tell is how the error is told to people.
func (e *AdapterError) Tell() (code, message string, details, fix []string) {
	return codeAtFault, "client " + e.Client + " " + e.Message, e.Details, nil
}
