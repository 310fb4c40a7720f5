package checker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locktest/locktest/history"
)

// Kinds of finding of ResourceSafety.
const (
	StaleWrite    = "stale-write"      // a write was accepted after a newer grant's write or read
	LostUpdate    = "lost-update"      // two writes were computed from one version
	RegisterOrder = "register-order"   // reads and writes fit no order
	PhantomRead   = "phantom-read"     // a version was read that nobody wrote
	WrongCount    = "wrong-count"      // a counter's end doesn't fit its increments
	RejectedRead  = "rejected-applied" // a refused write was read
)

// judgeResources asks whether what the locks guard stayed whole.
func judgeResources(ctx context.Context, v *view) Result {
	if len(v.things) == 0 {
		if len(v.header.Resources) > 0 {
			return Result{Verdict: Inconclusive, Complete: true, Why: "the guarded resource was never used", Summary: "the guarded resource was never used"}
		}
		return Result{Verdict: NotApplicable, Complete: true, Why: "nothing is guarded", Summary: "nothing is guarded"}
	}
	var rs []*ruling
	for i := range v.things {
		if ctx.Err() == nil {
			rs = append(rs, resourceOf(v, &v.things[i]))
		}
	}
	r := sum(used(rs))
	r.Summary = resourceWords(&r)
	if w := r.Numbers["writes"]; w > 0 {
		r.Numbers["lost_update_percent"] = 100 * r.Numbers["lost_updates"] / w
	}
	return r
}

// used leaves out the resources that nobody wrote, where others were written: of many, some may never have had their turn.
func used(rs []*ruling) []*ruling {
	written := slices.DeleteFunc(slices.Clone(rs), func(r *ruling) bool { return r.verdict == Inconclusive && r.numbers["writes"] == 0 })
	if len(written) == 0 {
		return rs
	}
	return written
}

func resourceWords(r *Result) string {
	n := r.Numbers
	s := fmt.Sprintf("%s, %s stale", count(int(n["writes"]), "write"), grouped(int(n["stale_writes"])))
	if lost := int(n["lost_updates"]); lost > 0 {
		s += ", " + count(lost, "lost update")
	}
	if refused := int(n["refused_writes"]); refused > 0 {
		s += fmt.Sprintf(", %s refused", count(refused, "stale write"))
	}
	if again := int(n["duplicate_runs"]); again > 0 {
		s += fmt.Sprintf(", %s", count(again, "duplicate run"))
	}
	if refused := int(n["refused_runs"]); refused > 0 {
		s += fmt.Sprintf(", %s refused", count(refused, "duplicate run"))
	}
	return s
}

func resourceOf(v *view, t *resourceView) *ruling {
	r := newRuling()
	r.engine = "sweep"
	j := &resourceJudge{v: v, t: t, r: r, late: map[int32]bool{}}
	j.count()
	j.marks()
	j.lostUpdates()
	j.registerOrder()
	j.counter()
	j.duplicates()
	j.verdict()
	return r
}

type resourceJudge struct {
	v      *view
	t      *resourceView
	r      *ruling
	late   map[int32]bool // ops that a check of tokens would have refused
	firsts map[int32]bool // grants under which the first version was read
	lost   int            // accepted writes that wiped out another accepted one
}

func (j *resourceJudge) verdict() {
	counted := 0
	for _, f := range j.r.findings {
		if f.Strength != UnderStall {
			counted++
		}
	}
	switch {
	case counted > 0:
		j.r.verdict = Violated
	case len(j.r.findings) > 0:
		j.r.verdict, j.r.why = Inconclusive, "a hold outlasted its lease because the host stalled, or the reply to its acquire came late, which nobody had asked for"
	case j.r.numbers["writes"] == 0:
		j.r.verdict, j.r.why = Inconclusive, "nothing was written"
	}
}

func (j *resourceJudge) count() {
	for _, i := range j.t.ops {
		o := &j.v.ops[i]
		switch {
		case o.act == write && o.ans == okay:
			j.r.numbers["writes"]++
		case o.act == write && o.ans == rejected && isJob(j, i):
			j.r.numbers["refused_runs"]++
		case o.act == write && o.ans == rejected:
			j.r.numbers["refused_writes"]++
		case o.act == write && o.ans == unknown:
			j.r.numbers["unknown_writes"]++
		case o.act == read && o.ans == okay:
			j.r.numbers["reads"]++
		case o.act == read && o.ans == rejected:
			j.r.numbers["refused_reads"]++
		}
	}
}

func (j *resourceJudge) accepted(i int32) bool { return j.v.ops[i].ans == okay }

// token is the one that an operation carried: its own, or else its grant's.
func (v *view) token(o *op) uint64 {
	if t := v.done(o).Token; t != 0 {
		return t
	}
	if t := v.called(o).Token; t != 0 {
		return t
	}
	if o.grant >= 0 {
		return v.grants[o.grant].token
	}
	return 0
}

// lockOf returns the lock whose grant an operation was done under; nil where the history doesn't say.
func (v *view) lockOf(o *op) *lockView {
	switch {
	case o.grant >= 0 && v.grants[o.grant].lock >= 0:
		return &v.locks[v.grants[o.grant].lock]
	case o.lock >= 0:
		return &v.locks[o.lock]
	}
	return nil
}

// fences says whether l's tokens order its grants.
func fences(l *lockView) bool { return l != nil && l.contract.Tokens == history.PerGrant }

// ranked is an accepted operation with a token.
type ranked struct {
	op    int32
	token uint64
	call  time.Duration
	// at is when it certainly had been decided: its place in the log, or the time of its reply.
	at time.Duration
}

// finding describes what was seen at op i, with the others that show it.
func (j *resourceJudge) finding(kind string, party Party, i int32, others ...int32) Finding {
	o := &j.v.ops[i]
	ops := append([]int32{i}, others...)
	first := o.call
	for _, k := range others {
		if k >= 0 {
			first = min(first, j.v.ops[k].call)
		}
	}
	f := Finding{
		Kind: kind, Resource: j.t.Name, Blame: party, Strength: Definite, At: o.call, Until: j.v.gaveUp(o),
		Ops: j.v.events(ops...), Grants: j.v.grantIDs(ops...), Fault: j.v.faultAt(first, o.call),
	}
	if l := j.v.lockOf(o); l != nil {
		f.Lock = l.name
	}
	return f
}

// acquireOf returns the acquire of the grant that op i was done under; -1: none.
func (j *resourceJudge) acquireOf(i int32) int32 {
	if g := j.v.ops[i].grant; g >= 0 {
		return j.v.grants[g].acq
	}
	return -1
}

func (j *resourceJudge) who(i int32) string {
	o := &j.v.ops[i]
	return fmt.Sprintf("%s%s", j.v.client(o), tokenWords(j.v.token(o)))
}
