package runner

import (
	"maps"
	"slices"
	"sync"

	"github.com/locktest/locktest/nemesis"
	"github.com/locktest/locktest/workloads"
)

// watch is the live view of who holds and who waits, from what the workers tell.
type watch struct {
	mu          sync.Mutex
	holders     map[int]string // grant → client
	waiters     map[int]string
	subscribers map[int]chan nemesis.Event
	nextID      int
	counts      Counts
}

// Counts are what has happened so far.
type Counts struct {
	Acquired, Refused int
	Holders, Waiters  []string
}

func newWatch() *watch {
	return &watch{holders: map[int]string{}, waiters: map[int]string{}, subscribers: map[int]chan nemesis.Event{}}
}

// step takes a worker's step; see workloads.Shared.Watch.
func (w *watch) step(s workloads.Step, client, lock string, grant int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch s {
	case workloads.Waiting:
		w.waiters[grant] = client
	case workloads.Refused:
		delete(w.waiters, grant)
		w.counts.Refused++
	case workloads.Acquired:
		delete(w.waiters, grant)
		w.holders[grant] = client
		w.counts.Acquired++
	case workloads.Releasing, workloads.Ended:
		delete(w.holders, grant)
	}
	if kind, ok := eventKinds[s]; ok {
		w.publish(nemesis.Event{Kind: kind, Client: client, Lock: lock, Grant: grant})
	}
}

var eventKinds = map[workloads.Step]nemesis.EventKind{
	workloads.Waiting: nemesis.Waiting, workloads.Acquired: nemesis.Acquired, workloads.Extending: nemesis.Extending, workloads.Releasing: nemesis.Releasing,
}

func (w *watch) publish(e nemesis.Event) {
	for _, c := range w.subscribers {
		select {
		case c <- e:
		default: // who is too slow misses it
		}
	}
}

// Holders are the clients that hold a lock, in the order of their grants.
func (w *watch) Holders() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return byGrant(w.holders)
}

// Waiters are the clients whose acquire is open, in the order of their calls.
func (w *watch) Waiters() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return byGrant(w.waiters)
}

// byGrant returns each client once, in the order of its first grant.
func byGrant(m map[int]string) []string {
	var out []string
	for _, grant := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(out, m[grant]) {
			out = append(out, m[grant])
		}
	}
	return out
}

// Subscribe returns events from now on.
func (w *watch) Subscribe() (<-chan nemesis.Event, func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id, c := w.nextID, make(chan nemesis.Event, 64)
	w.nextID++
	w.subscribers[id] = c
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.subscribers, id)
	}
}

func (w *watch) snapshot() Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.counts
	c.Holders, c.Waiters = byGrant(w.holders), byGrant(w.waiters)
	return c
}
