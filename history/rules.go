package history

import (
	"fmt"
	"time"
)

// rules are what every history keeps: indexes count up, time never decreases, a process has at most one operation open,
// an answer is of what was asked, and a grant belongs to one acquire.
type rules struct {
	next   int
	last   time.Duration
	open   map[process]opened
	grants numbers
}

type process struct {
	client string
	thread int
	number int
}

type opened struct {
	f     F
	grant int
	lock  string
	index int
}

func newRules() *rules { return &rules{open: map[process]opened{}} }

func (r *rules) check(op *Op) error {
	if op.Index != r.next {
		return fmt.Errorf("%w: index is %d, expected %d", ErrFormat, op.Index, r.next)
	}
	if op.Time < r.last {
		return fmt.Errorf("%w: time runs backwards, from %v to %v", ErrFormat, r.last, op.Time)
	}
	r.next, r.last = op.Index+1, op.Time
	switch {
	case op.Type == Invoke:
		return r.begins(op)
	case op.Completes():
		return r.ends(op)
	}
	return nil
}

func (r *rules) begins(op *Op) error {
	p := process{op.Client, op.Thread, op.Process}
	if o, busy := r.open[p]; busy {
		return fmt.Errorf("%w: %s (process %d) begins %s while its %s of index %d is open", ErrFormat, op.Client, op.Process, op.F, o.f, o.index)
	}
	r.open[p] = opened{op.F, op.Grant, op.Lock, op.Index}
	if op.F == Acquire && op.Grant != 0 && !r.grants.add(op.Grant) {
		return fmt.Errorf("%w: %s acquires with grant %d, which another acquire has", ErrFormat, op.Client, op.Grant)
	}
	return nil
}

func (r *rules) ends(op *Op) error {
	p := process{op.Client, op.Thread, op.Process}
	o, begun := r.open[p]
	switch {
	case !begun || o.f != op.F:
		return fmt.Errorf("%w: %s (process %d) ends a %s that it did not begin", ErrFormat, op.Client, op.Process, op.F)
	case op.Grant != 0 && op.Grant != o.grant:
		return fmt.Errorf("%w: the answer to the %s of index %d is of grant %d, but it was asked for grant %d", ErrFormat, op.F, o.index, op.Grant, o.grant)
	case op.Lock != "" && op.Lock != o.lock:
		return fmt.Errorf("%w: the answer to the %s of index %d is of lock %q, but it was asked of lock %q", ErrFormat, op.F, o.index, op.Lock, o.lock)
	}
	delete(r.open, p)
	return nil
}

// numbers is a set of numbers, most of them small.
type numbers struct {
	small []uint64 // a bit each
	rest  map[int]struct{}
}

// mostSmall bounds the memory that one number can take.
const mostSmall = 1 << 26

// add says whether n is new.
func (s *numbers) add(n int) bool {
	if n >= mostSmall {
		if s.rest == nil {
			s.rest = map[int]struct{}{}
		}
		_, seen := s.rest[n]
		s.rest[n] = struct{}{}
		return !seen
	}
	at, bit := n/64, uint64(1)<<(n%64)
	if at >= len(s.small) {
		s.small = append(s.small, make([]uint64, at+1-len(s.small))...)
	}
	seen := s.small[at]&bit != 0
	s.small[at] |= bit
	return !seen
}
