package checker

import (
	"cmp"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/locktest/locktest/history"
)

// forever stands for an end that never came.
const forever = time.Duration(math.MaxInt64)

// act is what an op does. Losses and renewals are ops of no length.
type act uint8

const (
	acquire act = iota
	extend
	release
	read
	write
	lost
	renewed
)

// answer is how an op ended.
type answer uint8

const (
	unknown answer = iota // it may have taken effect, may yet, may never
	okay
	busy
	notHeld
	gone
	rejected
	failed // it certainly had no effect
)

// op is one operation: an invocation and its completion. Its interval is closed, and errs only on the wide side.
type op struct {
	call, ret time.Duration // ret is forever where the outcome is unknown
	inv, cmp  int32         // indexes of events; cmp is -1 where no completion was recorded
	lock      int32         // -1: none
	grant     int32         // -1: none
	client    int32
	thread    int32 // the client with its thread
	act       act
	ans       answer
	shared    bool
	permits   int32 // at least 1
}

// view is a history as the checkers look at it. It never changes once made.
type view struct {
	h       *history.History
	header  *history.Header
	ops     []op // in the order of their invocations
	grants  []grant
	byGrant []int32 // ops, grouped by grant, each group in order
	shared  []bool  // owners that have more than one grant
	clients names
	locks   []lockView
	things  []resourceView
	faults  []window
	stalls  []stall
	found   []int32 // events that tell what was found on the servers
	phases  map[string]time.Duration
	end     time.Duration // time of the last event
	budget  budget        // of the general engine
	most    int           // findings of one kind to put into words
	slack   time.Duration // by which time stamps were widened; 0: they are as recorded
	wide    func() *view  // the same widened by the clocks' error, nil where they have none; made when first asked for
}

// lockView is all that concerns one lock.
type lockView struct {
	name     string
	contract history.Contract
	grants   []int32 // in the order of their acquires' calls
	acquires []int32 // ops, whatever their outcome

	holds   func() *normaliser // of a lock without expiry; made when first asked for
	tenures func() []tenure    // the certain grants, in the order of their replies; made when first asked for

	once   sync.Once
	second second // what the general engine said; see lockView.engine
}

// resourceView is all that concerns one guarded resource.
type resourceView struct {
	history.Resource
	ops []int32 // reads and writes, in the order of their calls
}

// names turns names into small numbers.
type names struct {
	of   map[string]int32
	text []string
}

func (n *names) number(s string) int32 {
	if i, ok := n.of[s]; ok {
		return i
	}
	if n.of == nil {
		n.of = map[string]int32{}
	}
	i := int32(len(n.text))
	n.of[s] = i
	n.text = append(n.text, s)
	return i
}

// Validate says where h breaks the rules of recording: a process with two open operations, a completion of nothing,
// or time that runs backwards. Such a history is not judged.
func Validate(h *history.History) error {
	_, err := pair(h)
	return err
}

func newView(h *history.History) (*view, error) { return makeView(h, 0) }

func makeView(h *history.History, slack time.Duration) (*view, error) {
	b, err := pair(h)
	if err != nil {
		return nil, err
	}
	v := b.v
	v.weighReleases()
	if slack > 0 {
		v.widen(slack)
	}
	v.wide = sync.OnceValue(v.widerView)
	b.group()
	v.faults = faultWindows(h, b.faulty, v.end)
	v.stalls = stalls(h, b.stalled, v.faults)
	v.budget = budget{configs: DefaultConfigurations}
	for i := range v.locks {
		l := &v.locks[i]
		l.holds = sync.OnceValue(func() *normaliser { return normalise(v, l) })
		l.tenures = sync.OnceValue(func() []tenure { return v.tenures(l) })
	}
	return v, nil
}

// weighReleases takes OK to a release for no more than "it is not held now" where the lock promises no more. Leases are
// judged by their own times, with that in view.
func (v *view) weighReleases() {
	for i := range v.ops {
		o := &v.ops[i]
		if o.act != release || o.ans != okay || o.lock < 0 {
			continue
		}
		if l := &v.locks[o.lock]; strictLock(l) && !l.contract.ReleaseHeld {
			o.ans = gone
		}
	}
}

// mostFindings is how many findings of one lock and strength are put into words; more are only counted.
func (v *view) mostFindings() int { return cmp.Or(v.most, DefaultFindings) }

func (v *view) client(o *op) string { return v.clients.text[o.client] }

// call returns the event by which o began, done the one by which it ended: the same one where it never did.
func (v *view) called(o *op) *history.Op { return &v.h.Ops[o.inv] }

func (v *view) done(o *op) *history.Op {
	if o.cmp < 0 {
		return &v.h.Ops[o.inv]
	}
	return &v.h.Ops[o.cmp]
}

// gaveUp is when the client stopped waiting for an answer to o, or got one.
func (v *view) gaveUp(o *op) time.Duration {
	switch {
	case o.ret != forever:
		return o.ret
	case o.cmp >= 0:
		return v.h.Ops[o.cmp].Time + v.slack
	}
	return v.end
}

// events returns the indexes of the events of ops, ascending and each once.
func (v *view) events(ops ...int32) []int {
	var out []int
	for _, i := range ops {
		if i < 0 {
			continue
		}
		o := &v.ops[i]
		out = append(out, int(o.inv))
		if o.cmp >= 0 {
			out = append(out, int(o.cmp))
		}
	}
	return ascending(out)
}

func (b *builder) errorAt(e *history.Op, format string, args ...any) error {
	return fmt.Errorf("event %d at %s: %s", e.Index, seconds(e.Time), fmt.Sprintf(format, args...))
}
