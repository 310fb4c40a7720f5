package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locktest/locktest/history"
)

// Kinds of finding of Hygiene.
const (
	NeverReleased = "never-released" // a client that lived on never released a grant
	NoTTL         = "no-ttl"         // found on the server: a key of a lock with leases that never ends
	LeftBehind    = "left-behind"    // found on the server at the end, with nobody holding
	HeldTooLong   = "held-too-long"  // a client held longer than its lease and neither extended nor lost it
)

// judgeHygiene looks for what harms nobody yet: grants that nobody gives back, holds that outlast their lease without
// meeting another, keys left on the servers.
func judgeHygiene(ctx context.Context, v *view) Result {
	var rs []*ruling
	for i := range v.locks {
		if ctx.Err() == nil {
			rs = append(rs, hygieneOf(v, &v.locks[i]))
		}
	}
	left := newRuling()
	v.observed(left)
	if len(left.findings) > 0 {
		left.verdict = Violated
		rs = append(rs, left)
	}
	r := sum(rs)
	what := "left behind or held too long"
	if a, why := v.asked(); why != "" {
		r.Complete, r.Why = false, cmp.Or(r.Why, why)
		if a.Answered == 0 {
			what = "never released or held too long; " + why
		}
	}
	if len(rs) > 0 && r.Verdict != NotApplicable {
		r.Summary = fmt.Sprintf("%s, %s %s", count(int(r.Numbers["grants"]), "grant"), grouped(len(r.Findings)), what)
	}
	return r
}

// asked says of whom it is known what was left at the end, and why that isn't all; nothing of a history that doesn't say.
func (v *view) asked() (a history.Asked, why string) {
	for _, i := range v.found {
		e := &v.h.Ops[i]
		var ok bool
		if a, ok = e.Asked(); !ok {
			continue
		}
		switch {
		case a.Answered < a.Nodes:
			why = fmt.Sprintf("%d of %s said what is left", a.Answered, count(a.Nodes, "node"))
			if e.Error != "" {
				why += " (" + e.Error + ")"
			}
		case a.Asked < a.Locks:
			why = fmt.Sprintf("what is left was asked of %d of %s", a.Asked, count(a.Locks, "lock"))
		}
		return a, why
	}
	return history.Asked{}, ""
}

func hygieneOf(v *view, l *lockView) *ruling {
	r := newRuling()
	ts := l.tenures()
	r.numbers["grants"] = float64(len(ts))
	ended := v.tidied()
	for i := range ts {
		t := &ts[i]
		if ended && t.stopBy < 0 && v.grants[t.grant].crash == forever {
			f := v.untidy(NeverReleased, l, t, t.ac)
			f.Message = fmt.Sprintf("%s was granted %s at %s and never released it, although it was not killed.", v.client(&v.ops[t.acq]), quoted(l.name), seconds(t.ac))
			r.add(f)
		}
		v.tooLong(l, t, r)
	}
	excused := 0
	for _, f := range r.findings {
		excused += bit(f.Strength == UnderStall)
	}
	switch {
	case len(r.findings) > excused:
		r.verdict = Violated
	case excused > 0:
		r.verdict, r.why = Inconclusive, fmt.Sprintf("the reply to the acquire came so late that less than the hold was left of the lease, in %s", count(excused, "hold"))
	case len(ts) == 0:
		r.verdict, r.why = Inconclusive, fmt.Sprintf("%s was never granted", quoted(l.name))
	}
	return r
}

// tooLong reports a hold beyond its lease that nothing excuses: no fault, no stall.
func (v *view) tooLong(l *lockView, t *tenure, r *ruling) {
	if l.contract.Expiry != history.Lease || !t.known || t.stopBy < 0 {
		return
	}
	deadline := v.deadline(t, &l.contract, t.stop)
	client := v.client(&v.ops[t.acq])
	over := t.stop - deadline
	if over <= max(v.header.Pipe, 10*time.Millisecond) || v.ops[t.stopBy].act == lost || v.anyFault(t.ai, t.stop) {
		return
	}
	if _, stalled := v.stalled(client, t.ai, t.stop); stalled {
		return
	}
	f := v.untidy(HeldTooLong, l, t, deadline)
	f.Until, f.Ops = t.stop, v.events(t.acq, t.stopBy)
	f.Message = fmt.Sprintf("%s went on holding %s for %s after its lease had ended at %s, and no fault was in effect.", client, quoted(l.name), seconds(over), seconds(deadline))
	if late, slow := v.slowReply(l, t); slow {
		f.Strength = UnderStall
		f.Message += slowWords(late)
	}
	r.add(f)
}

func (v *view) untidy(kind string, l *lockView, t *tenure, at time.Duration) Finding {
	return Finding{
		Kind: kind, Lock: l.name, Blame: ClientParty, Strength: Definite, At: at, Ops: v.events(t.acq), Grants: v.grantIDs(t.acq), Fault: v.faultAt(t.ai, at),
	}
}

// tidied says whether clients had the time to give back what they held: the run ended, and as it was meant to.
func (v *view) tidied() bool {
	_, ended := v.phases[history.PhaseEnd]
	return ended && !v.cutShort() && v.h.Truncated == ""
}

// cutShort says whether the run was interrupted, or its last part, in which each client asks for each lock, was left
// out.
func (v *view) cutShort() bool {
	if _, cut := v.phases[history.PhaseCut]; cut {
		return true
	}
	drain, drained := v.phases[history.PhaseDrain]
	_, ended := v.phases[history.PhaseEnd]
	return drained && ended && !slices.ContainsFunc(v.ops, func(o op) bool { return o.call >= drain })
}

// observed takes what was found on the servers. A key without a TTL, of a lock with leases, stays for ever; at the end
// of the run nothing should be left of any.
func (v *view) observed(r *ruling) {
	end, ended := v.phases[history.PhaseEnd], v.tidied()
	for _, i := range v.found {
		e := &v.h.Ops[i]
		if e.Name == "" {
			continue // who was asked
		}
		f := Finding{Lock: e.Lock, Blame: ClientLibrary, Strength: Definite, At: e.Time, Ops: []int{e.Index}}
		switch {
		case e.TTL < 0 && v.header.Contract(e.Lock).Expiry == history.Lease:
			f.Kind = NoTTL
			f.Message = fmt.Sprintf("at %s the server had %s without an end, although %s promises leases. %s", seconds(e.Time), quoted(e.Name), quoted(e.Lock), e.Text)
		case ended && e.Time >= end:
			f.Kind = LeftBehind
			f.Message = fmt.Sprintf("after the run the server still had %s, and nobody holds %s. %s", quoted(e.Name), quoted(e.Lock), e.Text)
		default:
			continue
		}
		r.add(f)
	}
}
