package checker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locktest/locktest/history"
)

// judgeCoverage asks whether the run tested what it meant to: a pass is earned. It is held or inconclusive.
func judgeCoverage(ctx context.Context, v *view) Result {
	c := &coverage{v: v, numbers: map[string]float64{}}
	c.whole()
	c.grants()
	c.contention()
	c.planned()
	c.drained()
	r := Result{Verdict: Held, Complete: true, Numbers: c.numbers, Summary: c.summary()}
	if len(c.missing) > 0 {
		r.Verdict, r.Why = Inconclusive, strings.Join(c.missing, "; ")
		r.Summary = c.missing[0]
	}
	return r
}

type coverage struct {
	v       *view
	missing []string
	numbers map[string]float64
}

func (c *coverage) miss(format string, args ...any) {
	c.missing = append(c.missing, fmt.Sprintf(format, args...))
}

func (c *coverage) summary() string {
	s := fmt.Sprintf("%s, %s contended", count(int(c.numbers["acquires"]), "grant"), grouped(int(c.numbers["contended"])))
	if n := len(c.v.header.Faults); n > 0 {
		s = fmt.Sprintf("%s, %s; hit %s; ", count(n, "planned fault"), times(c.total("times", n)), count(c.total("hits", n), "hold or attempt")) + s
	}
	return s
}

// total sums up a number that each planned fault has.
func (c *coverage) total(what string, faults int) int {
	sum := 0.0
	for i := range faults {
		sum += c.numbers[fmt.Sprintf("fault_%d_%s", c.v.header.Faults[i].Number, what)]
	}
	return int(sum)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return grouped(n) + " times"
}

// whole asks whether the history has all of its parts.
func (c *coverage) whole() {
	if t := c.v.h.Truncated; t != "" {
		c.miss("the history is cut off: %s", t)
	}
	if c.foreign() {
		return
	}
	if c.v.cutShort() {
		c.miss("the run was cut short")
	} else if _, ended := c.v.phases[history.PhaseEnd]; !ended {
		c.miss("the run did not reach its end: what was recorded is judged all the same")
	}
}

// foreign says whether the history is not of a run that had anything planned.
func (c *coverage) foreign() bool {
	return len(c.v.phases) == 0 && len(c.v.header.Faults) == 0 && c.v.header.Run == "" && c.v.header.Scenario == ""
}

func (c *coverage) grants() {
	n := 0
	for i := range c.v.locks {
		n += len(c.v.locks[i].tenures())
	}
	c.numbers["acquires"] = float64(n)
	if least := c.v.header.Bounds.MinAcquires; n < least {
		c.miss("%s, of at least %d wanted", count(n, "grant"), least)
	} else if n == 0 {
		c.miss("no lock was ever granted")
	}
}

// contention counts the attempts that were open while somebody else held the lock.
func (c *coverage) contention() {
	contended := 0
	for i := range c.v.locks {
		contended += c.v.contended(&c.v.locks[i])
	}
	c.numbers["contended"] = float64(contended)
	if contended == 0 && c.numbers["acquires"] > 0 {
		c.miss("nobody ever asked for a lock while another held it, so nothing was tested")
	}
}

// stay is a hold as long as it kept others out.
type stay struct {
	acq, thread int32
	ac, until   time.Duration
}

// stays returns the certain holds of l in the order of their replies. One of which nobody knows how it ended, no release,
// no loss, no death, lasted until its lease was over, where that is known: who comes later meets nobody.
func (v *view) stays(l *lockView) []stay {
	ts := l.tenures()
	out := make([]stay, len(ts))
	for i := range ts {
		t := &ts[i]
		out[i] = stay{t.acq, v.ops[t.acq].thread, t.ac, t.stop}
		if t.known && t.stop == forever {
			out[i].until = v.deadline(t, &l.contract, forever)
		}
	}
	return out
}

func (v *view) contended(l *lockView) int {
	n := 0
	all := v.stays(l)
	var longest [2]*stay // of different threads, the ones that end last
	next := 0
	for _, i := range l.acquires { // by call
		a := &v.ops[i]
		for next < len(all) && all[next].ac < a.call {
			longest = keepLongest(longest, &all[next])
			next++
		}
		if v.metBy(a, i, longest, all[next:]) {
			n++
		}
	}
	return n
}

// metBy says whether a hold by another thread was open in a's time: one that began before, or one of those that began
// later, if meanwhile.
func (v *view) metBy(a *op, self int32, longest [2]*stay, later []stay) bool {
	for _, s := range longest {
		if s != nil && s.thread != a.thread && s.until > a.call {
			return true
		}
	}
	for i := range later {
		s := &later[i]
		if s.ac >= v.gaveUp(a) {
			break
		}
		if s.acq != self && s.thread != a.thread && s.until > a.call {
			return true
		}
	}
	return false
}

func keepLongest(longest [2]*stay, s *stay) [2]*stay {
	switch {
	case longest[0] == nil || s.until >= longest[0].until:
		if longest[0] != nil && longest[0].thread != s.thread {
			longest[1] = longest[0]
		}
		longest[0] = s
	case longest[0].thread != s.thread && (longest[1] == nil || s.until >= longest[1].until):
		longest[1] = s
	}
	return longest
}

// planned asks of each planned fault whether it was brought about, healed and met somebody.
func (c *coverage) planned() {
	for i := range c.v.h.Ops {
		if e := &c.v.h.Ops[i]; e.Type == history.FaultMissed {
			c.miss("fault %d (%s) did not apply at %s: %s", e.Fault, e.F, seconds(e.Time), e.Error)
		}
	}
	for _, f := range c.v.header.Faults {
		c.fault(f)
	}
}

func (c *coverage) fault(f history.Fault) {
	var ws []window
	for _, w := range c.v.faults {
		if w.number == f.Number {
			ws = append(ws, w)
		}
	}
	c.numbers[fmt.Sprintf("fault_%d_times", f.Number)] = float64(len(ws))
	if len(ws) == 0 {
		c.miss("fault %d (%s) was never brought about", f.Number, f.Kind)
		return
	}
	if k := slices.IndexFunc(ws, func(w window) bool { return w.end < 0 }); k >= 0 {
		c.miss("fault %d (%s), begun at %s, was never healed", f.Number, f.Kind, seconds(ws[k].from))
	}
	holds, attempts := c.hits(ws)
	c.numbers[fmt.Sprintf("fault_%d_hits", f.Number)] = float64(max(holds, bit(holds == 0)*attempts))
	switch {
	case attempts == 0 && holds == 0:
		c.miss("nobody held or asked for a lock during fault %d (%s)", f.Number, f.Kind)
		return
	case attempts == 0:
		c.miss("nobody asked for a lock during fault %d (%s)", f.Number, f.Kind)
	case holds < f.MinHits && holds > 0, holds == 0 && attempts < f.MinHits:
		c.miss("fault %d (%s) hit %s, of at least %d wanted", f.Number, f.Kind, count(max(holds, bit(holds == 0)*attempts), "hold"), f.MinHits)
	}
	c.around(f, ws)
}

// hits counts the holds and the attempts that a fault met.
func (c *coverage) hits(ws []window) (holds, attempts int) {
	meets := func(from, to time.Duration) bool {
		return slices.ContainsFunc(ws, func(w window) bool { return w.meets(from, to) })
	}
	for i := range c.v.locks {
		l := &c.v.locks[i]
		for _, t := range l.tenures() {
			holds += bit(meets(t.ac, t.stop))
		}
		for _, a := range l.acquires {
			attempts += bit(meets(c.v.ops[a].call, c.v.gaveUp(&c.v.ops[a])))
		}
	}
	return holds, attempts
}

// around asks for grants before the fault first began and after it last ended.
func (c *coverage) around(f history.Fault, ws []window) {
	first, last := ws[0].from, ws[0].to
	for _, w := range ws {
		last = max(last, w.to)
	}
	before, after := false, false
	for i := range c.v.locks {
		for _, t := range c.v.locks[i].tenures() {
			before = before || t.ac <= first
			after = after || t.ac >= last
		}
	}
	if !before {
		c.miss("nothing was granted before fault %d (%s)", f.Number, f.Kind)
	}
	if !after {
		c.miss("nothing was granted after fault %d (%s)", f.Number, f.Kind)
	}
}

// drained asks whether each client got what it asked for at the end of the run.
func (c *coverage) drained() {
	drain, ok := c.v.phases[history.PhaseDrain]
	if !ok || !c.v.tidied() {
		return
	}
	type need struct{ client, lock int32 }
	got := map[need]bool{}
	var order []need
	asked := map[string]bool{}
	for i := range c.v.locks {
		for _, a := range c.v.locks[i].acquires {
			o := &c.v.ops[a]
			if o.call < drain {
				continue
			}
			n := need{o.client, o.lock}
			if _, seen := got[n]; !seen {
				order = append(order, n)
			}
			got[n] = got[n] || o.ans == okay
			asked[c.v.client(o)] = true
		}
	}
	for _, n := range order {
		if !got[n] {
			c.miss("at the end %s could not get %s", c.v.clients.text[n.client], quoted(c.v.locks[n.lock].name))
		}
	}
	for _, name := range c.v.header.Clients {
		if !asked[name] {
			c.miss("%s did not ask for a lock at the end", name)
		}
	}
}
