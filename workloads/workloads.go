// Package workloads is what clients do meanwhile: ask for locks, work on the guarded resource while they hold, release,
// and clean up what is unknown. It records what it does and judges nothing.
package workloads

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/locktest/locktest/clients"
	"github.com/locktest/locktest/history"
)

// Workload is what is done while a lock is held.
type Workload interface {
	// Name is the word in a scenario.
	Name() string
	// UsesResource says whether sections touch the guarded resource.
	UsesResource() bool
	// Section is one critical section. It returns when it ends, the lock is lost, or the client died; an error is a
	// failed harness or a client at fault.
	Section(ctx context.Context, s *Section) error
}

// Config is what a scenario says of the workload.
type Config struct {
	Thread  int // which of its client's the worker is, from 1; 0: the only one
	Locks   []string
	TTL     time.Duration
	Wait    time.Duration // how long an acquire may block
	Hold    Range
	Think   Range         // between a release and the next acquire
	Fail    float64       // share of sections that raise an error before they write, 0 to 1
	Extend  time.Duration // between two extends while holding; 0: never
	Mode    string
	Permits int // at most so many are asked for by the semaphore workload, by the others exactly so many

	Readers     float64 // of rwlock: share of acquires in shared mode, 0 to 1
	Order       string  // of nested: Sorted or Opposite
	Deduplicate bool    // of once: the resource runs each job once
	Early       bool    // the resource is read before the lock is asked for: wrong on purpose
}

// The orders in which the nested workload takes two locks.
const (
	Sorted   = "sorted"   // everybody in the order of their names
	Opposite = "opposite" // in any order
)

// asker is a Workload that asks for modes or permits of its own.
type asker interface {
	ask(c Config, rnd *rand.Rand) (mode string, permits int)
}

// drainer is a Workload with its own way to use a lock once more when the workload has ended.
type drainer interface {
	drain(ctx context.Context, w *Worker, lock string, wait time.Duration) error
}

// Range is a duration drawn evenly between two ends.
type Range struct{ Min, Max time.Duration }

func (r Range) draw(rnd *rand.Rand) time.Duration {
	if r.Max <= r.Min {
		return r.Min
	}
	return r.Min + time.Duration(rnd.Int64N(int64(r.Max-r.Min)+1))
}

// Recorder takes events; history.Recorder is one.
type Recorder interface {
	Record(history.Op) history.Op
	Since(time.Time) time.Duration
}

// Step is a step in a client's life with a lock, for those who watch.
type Step string

const (
	Waiting   Step = "waiting"   // an acquire is about to be sent
	Refused   Step = "refused"   // an acquire ended without a grant
	Acquired  Step = "acquired"  // an acquire was answered OK
	Extending Step = "extending" // an extend is about to be sent
	Releasing Step = "releasing" // the release of a hold is about to be sent
	Ended     Step = "ended"     // a hold ended otherwise: lost, or its client died
)

// Shared is what the workers of one run have in common.
type Shared struct {
	Recorder  Recorder
	Contracts map[string]history.Contract // by lock
	Resources map[string]*Resource        // by lock; empty for workloads that use none
	NextGrant func() int                  // from 1, unique in the run
	NextValue func() int64                // from 1, unique in the run
	// Watch is told of each step, before it is taken where the step says so. It must not block.
	Watch func(step Step, client, lock string, grant int)
}

// All returns every workload.
func All() []Workload {
	return []Workload{Mutex{}, Counter{}, Register{}, Log{}, Semaphore{}, RWLock{}, Reentrant{}, Handover{}, Election{}, Nested{}, Once{}}
}

// Doer is the client that a Worker drives; see clients.Client.
type Doer = clients.Client
