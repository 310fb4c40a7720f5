package reports

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

// htmlFault is a planned fault and what became of it.
type htmlFault struct {
	Number             int
	Kind, Text         string
	Trigger            string
	Begun, Healed      int
	Missed             string
	Hits               string
	Times              string
	Before, In, After  string // availability
	Recovery           string
	Violations         string
	DidNotApply, NoHit bool
}

func htmlFaults(o *runner.Outcome, groups []Group) []htmlFault {
	var out []htmlFault
	attempts := newAttempts(o.History)
	occurred := map[int][]fault{}
	for _, f := range injected(o.History) {
		occurred[f.number] = append(occurred[f.number], f)
	}
	for _, d := range documentFaults(o.History, o.Results) {
		f := htmlFault{Number: d.Number, Kind: clean(d.Kind), Text: clean(d.Text), Trigger: d.Trigger, Begun: d.Begun, Healed: d.Healed, Hits: "–", Missed: grouped(d.Missed)}
		if d.Missed > 0 {
			f.Missed += ": " + clean(d.Why[0])
		}
		f.DidNotApply = d.Begun == 0
		if d.Hits != nil {
			f.Hits, f.NoHit = grouped(*d.Hits), *d.Hits < d.MinHits
			if d.MinHits > 0 {
				f.Hits += fmt.Sprintf(" (at least %d)", d.MinHits)
			}
		}
		f.measure(attempts, occurred[d.Number])
		n := 0
		for _, g := range groups {
			for _, i := range g.Incidents {
				if slices.ContainsFunc(i.Findings, func(x checker.Finding) bool { return x.Fault == d.Number }) {
					n++
				}
			}
		}
		f.Violations = grouped(n)
		out = append(out, f)
	}
	return out
}

// measure fills in when a fault was, and how clients fared before, meanwhile and after, for as long as it lasted.
func (f *htmlFault) measure(a *attempts, occurred []fault) {
	f.Before, f.In, f.After, f.Recovery = "–", "–", "–", "–"
	var before, in, after share
	var slowest time.Duration
	known := false
	for n, o := range occurred {
		to := min(o.to, a.end)
		length := max(to-o.from, time.Second)
		before.add(a.within(o.from-length, o.from))
		in.add(a.within(o.from, to))
		if o.to != never {
			after.add(a.within(to, to+length))
			if at, ok := a.granted(to); ok {
				slowest, known = max(slowest, at-to), true
			}
		}
		switch {
		case n == 3:
			f.Times += ", …"
		case n < 3:
			if n > 0 {
				f.Times += ", "
			}
			f.Times += at(o.from) + " to "
			if o.to == never {
				f.Times += "the end"
			} else {
				f.Times += at(o.to)
			}
		}
	}
	f.Before, f.In, f.After = before.text(), in.text(), after.text()
	if known {
		f.Recovery = short(slowest)
	}
}

// share is how many of some attempts were answered.
type share struct{ answered, all int }

func (s *share) add(o share) { s.answered, s.all = s.answered+o.answered, s.all+o.all }

func (s share) text() string {
	if s.all == 0 {
		return "–"
	}
	return percent(float64(s.answered) / float64(s.all))
}

// attempts are the acquires of a history, ordered for questions about parts of it.
type attempts struct {
	calls    []time.Duration // ascending
	answered []int           // of the first n attempts
	grants   []time.Duration // ascending
	end      time.Duration
}

func newAttempts(h *history.History) *attempts {
	a := &attempts{answered: []int{0}}
	for _, st := range pairs(h) {
		if st.call.F != history.Acquire {
			continue
		}
		n := a.answered[len(a.calls)]
		if st.end != nil && (st.end.Type == history.OK || st.end.Outcome == history.Busy) {
			n++
		}
		a.calls, a.answered = append(a.calls, st.call.Time), append(a.answered, n)
	}
	for i := range h.Ops {
		op := &h.Ops[i]
		a.end = max(a.end, op.Time)
		if op.Type == history.OK && op.F == history.Acquire {
			a.grants = append(a.grants, op.Time)
		}
	}
	return a
}

// within counts the attempts whose call came in [from, to).
func (a *attempts) within(from, to time.Duration) share {
	i := sort.Search(len(a.calls), func(i int) bool { return a.calls[i] >= from })
	j := sort.Search(len(a.calls), func(i int) bool { return a.calls[i] >= to })
	if j <= i {
		return share{}
	}
	return share{a.answered[j] - a.answered[i], j - i}
}

// granted is the first grant from a moment on.
func (a *attempts) granted(from time.Duration) (time.Duration, bool) {
	i := sort.Search(len(a.grants), func(i int) bool { return a.grants[i] >= from })
	if i == len(a.grants) {
		return 0, false
	}
	return a.grants[i], true
}
