// Package nemesis is what goes wrong: faults on nodes, links and clients, when they begin, and how they end. It knows
// no lock and no server; what it can harm is in Env.
package nemesis

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/locktest/locktest/cluster"
)

// Fault is one kind of trouble with its parameters.
type Fault interface {
	// Kind is the word in the scenario: "pause".
	Kind() string
	// Text says it in words: "pause the holder".
	Text() string
	// Check is called before anything is started and says what env lacks.
	Check(env Env) error
	// Inject picks its targets, tells them to env.Begin, brings the fault about, and returns once it is in effect.
	// ErrNoTarget: a live target is absent. On an error it has undone what it did.
	Inject(ctx context.Context, env Env) (Injection, error)
}

// Injection is a fault in effect.
type Injection struct {
	Targets []string // c2, n1
	Text    string   // what was really done: "pause c2 (SIGSTOP)"
	// Heal ends it. It may be called twice and must work under a fresh context whatever became of Inject's.
	Heal func(ctx context.Context) error
	// Result is asked once after healing, of a fault that shows its effect only then: what was done, and an error where it was
	// nothing, so that the fault did not apply. nil: Text says it all.
	Result func() (text string, err error)
}

// Env is what can be harmed.
type Env struct {
	Nodes   []cluster.Node
	Store   cluster.Node    // where the guarded resource lives, harmed only by its name; nil: in the harness
	Net     cluster.Network // nil before the start, when Check is called, and for locks in memory
	Clients Clients
	Watch   Watch
	Rand    *rand.Rand
	TTL     time.Duration
	Shell   *Shell // for commands of the user's; nil where none can be run
	// Event is what triggered the fault; nil for one that is timed.
	Event *Event
	// Begin is called once by each Inject that finds its targets, just before it touches them. nil: nobody listens.
	Begin func(targets []string, text string)

	ledger *ledger // what is in force already, so that overlapping faults compose; nil: nothing is
}

// Clients are the users of locks, as the nemesis may treat them.
type Clients interface {
	Names() []string
	// Separate says whether each is an OS process of its own.
	Separate() bool
	Pause(ctx context.Context, client string) error
	Resume(ctx context.Context, client string) error
	// Kill is SIGKILL. The client stays dead until Restart.
	Kill(ctx context.Context, client string) error
	Restart(ctx context.Context, client string) error
}

// Event is a step in a client's life with a lock.
type Event struct {
	Kind   EventKind
	Client string
	Lock   string
	Grant  int
}

// EventKind is the word behind "on:" in a scenario.
type EventKind string

const (
	Waiting   EventKind = "waiting"   // an acquire is about to be sent
	Acquired  EventKind = "acquired"  // an acquire was answered OK
	Extending EventKind = "extending" // an extend is about to be sent
	Releasing EventKind = "releasing" // a release is about to be sent
)

// Watch is a live view of who holds and who waits.
type Watch interface {
	Holders() []string // clients that hold a lock now, in order of their grants
	Waiters() []string
	// Subscribe returns a channel of events; it drops those that the receiver is too slow for. cancel may be called twice.
	Subscribe() (events <-chan Event, cancel func())
}
