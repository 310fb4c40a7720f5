package reports

import (
	"cmp"
	"slices"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
)

// clues are what a history has on causes: who released what and when, and which faults there were.
type clues struct {
	h        *history.History
	acquires map[int]step // by grant
	releases []step       // in the order of their calls
	ended    map[int]time.Duration
	faults   []fault
	nodes    []string
	lease    time.Duration // the longest that a lock promises
}

func newClues(h *history.History) *clues {
	c := &clues{h: h, acquires: map[int]step{}, ended: map[int]time.Duration{}, faults: injected(h), nodes: h.Header.Nodes}
	for _, l := range h.Header.Locks {
		c.lease = max(c.lease, l.Contract.TTL)
	}
	for _, st := range pairs(h) {
		switch op := st.op(); op.F {
		case history.Acquire:
			c.acquires[op.Grant] = st
			c.extend(op.Grant, st)
		case history.Extend:
			c.extend(op.Grant, st)
		case history.Release:
			c.releases = append(c.releases, st)
		}
	}
	return c
}

// pairs joins each call with its answer, in the order of the calls.
func pairs(h *history.History) []step {
	type key struct {
		client          string
		thread, process int
	}
	open := map[key]int{}
	var out []step
	for n := range h.Ops {
		op := &h.Ops[n]
		k := key{op.Client, op.Thread, op.Process}
		if op.Type == history.Invoke {
			open[k] = len(out)
			out = append(out, step{call: op})
		} else if at, ok := open[k]; ok && op.Completes() {
			out[at].end = op
			delete(open, k)
		}
	}
	return out
}

// extend notes until when a grant's lease lasted.
func (c *clues) extend(grant int, st step) {
	if st.end == nil || st.end.Type != history.OK {
		return
	}
	if end := leaseEnd(c.h, st.end, st.call); end != never {
		c.ended[grant] = max(c.ended[grant], end)
	}
}

// How likely a release of somebody else freed a lock that was held.
const (
	unlikely  = iota
	maybe     // it may have arrived at any time
	certainly // it came after its own grant was over, or was held back by a fault that then ended
)

// freed finds the release by somebody else that may have made the lock free while the first of two holders held it.
func (c *clues) freed(i *Incident) (release step, best int) {
	first, second, ok := c.twice(i)
	if !ok {
		return step{}, unlikely
	}
	for _, r := range c.releases {
		if r.call.Time >= second.end.Time {
			break
		}
		if g := r.call.Grant; g == 0 || g == first.call.Grant || g == second.call.Grant || r.call.Lock != "" && r.call.Lock != first.call.Lock {
			continue
		}
		if how := c.suspect(r, first, second); how > unlikely && how >= best {
			best, release = how, r
		}
	}
	return release, best
}

// twice returns the acquires of the two grants of a double grant, in the order of their answers.
func (c *clues) twice(i *Incident) (first, second step, ok bool) {
	for n := range i.Findings {
		f := &i.Findings[n]
		if f.Kind != checker.DoubleGrant || len(f.Grants) < 2 {
			continue
		}
		var got []step
		for _, g := range f.Grants {
			if a, ok := c.acquires[g]; ok && a.end != nil && a.end.Type == history.OK {
				got = append(got, a)
			}
		}
		slices.SortFunc(got, func(a, b step) int { return cmp.Compare(a.end.Time, b.end.Time) })
		if len(got) >= 2 {
			return got[0], got[1], true
		}
	}
	return step{}, step{}, false
}

// suspect weighs a release that was sent before the second of two holders was granted the lock.
func (c *clues) suspect(r, first, second step) int {
	grant := r.call.Grant
	over, known := c.ended[grant]
	a, acquired := c.acquires[grant]
	if acquired && a.call.Time > second.end.Time || r.end != nil && r.end.Time < first.end.Time && r.end.Type != history.Info {
		return unlikely // granted later, or answered before there was anything to free
	}
	answered := r.end != nil && r.end.Type == history.OK
	switch {
	case r.end != nil && r.end.Type == history.Fail:
		return unlikely
	case answered && known && over < r.end.Time:
		return certainly
	case !answered && c.letThrough(r, first, second) != nil:
		return certainly
	case !answered && r.call.Time+10*max(c.lease, time.Second) >= first.end.Time:
		return maybe
	}
	return unlikely
}

// letThrough finds the fault that held a release back until it ended, while the first of two holders held the lock: a cut
// link, or a node that stood still. A client that stands still sends nothing that could be held back.
func (c *clues) letThrough(r, first, second step) *fault {
	for n := range c.faults {
		f := &c.faults[n]
		aimed := slices.Contains(f.targets, r.call.Client)
		link := f.kind == "partition" || f.kind == "black-hole" || f.kind == "message"
		holds := link && aimed || (link || f.kind == "pause") && slices.ContainsFunc(f.targets, func(t string) bool { return slices.Contains(c.nodes, t) })
		if holds && f.to != never && f.to > r.call.Time && f.from < f.to &&
			f.to >= first.end.Time-slack && f.to <= second.end.Time+slack && (r.end == nil || r.end.Type != history.OK || f.to <= r.end.Time+slack) {
			return f
		}
	}
	return nil
}

// slack is how far the record of a fault's end may lie from its effect.
const slack = 50 * time.Millisecond

// explained says whether something is known that may have brought an incident about.
func (c *clues) explained(i *Incident) bool {
	if _, how := c.freed(i); how == certainly {
		return true
	}
	from, to := i.span()
	for _, g := range i.Grants {
		if a, ok := c.acquires[g]; ok {
			from = min(from, a.call.Time)
		}
	}
	return slices.ContainsFunc(c.faults, func(f fault) bool { return f.from <= to && (f.to == never || f.to+c.lease >= from) })
}

// span is from the begin of an incident's first finding to that of its last.
func (i *Incident) span() (from, to time.Duration) {
	from = never
	for _, f := range i.Findings {
		from, to = min(from, f.At), max(to, f.At)
	}
	return from, to
}
