package checker

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/locktest/locktest/history"
)

// Kinds of finding of Ownership.
const (
	StrangersRelease = "strangers-release" // OK to the release of a grant that somebody else's had followed
	DoubleRelease    = "double-release"    // OK to a second release of one grant
	Resurrected      = "resurrected-lease" // OK to the extend of a grant that somebody else's had followed, or that was released
	LostLock         = lostLock            // not-held to an owner whose lease could not have ended
	NotTheirs        = notTheirs           // OK to a release whose owner could not hold, of a lock without leases
)

// judgeOwnership asks whether only a holder could release or extend, and whether holders were left alone.
func judgeOwnership(ctx context.Context, v *view) Result {
	var rs []*ruling
	for i := range v.locks {
		if ctx.Err() == nil {
			rs = append(rs, ownershipOf(ctx, v, &v.locks[i]))
		}
	}
	r := sum(rs)
	if r.Verdict != NotApplicable {
		r.Summary = count(int(r.Numbers["releases"]), "release")
		if n := int(r.Numbers["refused"]); n > 0 {
			r.Summary += fmt.Sprintf(", %s by others refused", grouped(n))
		}
	}
	return r
}

func ownershipOf(ctx context.Context, v *view, l *lockView) *ruling {
	r := newRuling()
	r.engine = "sweep"
	if !l.contract.OwnerChecked {
		r.verdict, r.why = NotApplicable, fmt.Sprintf("%s does not claim to check owners", quoted(l.name))
		return r
	}
	v.countReleases(l, r)
	if strictLock(l) {
		strictOwnership(v, l, r)
	} else {
		leaseOwnership(v, l, r)
	}
	switch {
	case len(r.findings) > 0:
		r.verdict = Violated
	case r.numbers["releases"]+r.numbers["refused"] == 0:
		r.verdict, r.why = Inconclusive, "no release was answered"
	}
	if strictLock(l) {
		v.settleOpen(ctx, l, r, NotTheirs, isAnswer)
	}
	return r
}

func (v *view) countReleases(l *lockView, r *ruling) {
	for _, g := range l.grants {
		for _, i := range v.ofGrant(g) {
			switch o := &v.ops[i]; {
			case o.act == release && (o.ans == okay || o.ans == gone):
				r.numbers["releases"]++
			case o.act == release && o.ans == notHeld:
				r.numbers["refused"]++
			}
		}
	}
}

// strictOwnership takes the answers that contradict what an owner had been told before.
func strictOwnership(v *view, l *lockView, r *ruling) {
	n := l.holds()
	for _, b := range n.breaches {
		last := &v.ops[b.ops[len(b.ops)-1]]
		f := Finding{
			Kind: b.kind, Lock: l.name, Blame: Service, Strength: Definite, At: b.at,
			Ops: v.events(b.ops...), Grants: v.grantIDs(b.ops...), Fault: v.faultAt(v.ops[b.ops[0]].call, b.at),
		}
		switch b.kind {
		case secondGrant:
			continue
		case lostLock:
			f.Message = fmt.Sprintf("%s was told at %s that it does not hold %s, which it had been granted by %s and had not released.",
				v.client(last), seconds(b.at), quoted(l.name), seconds(v.ops[b.ops[0]].ret))
		default:
			f.Message = fmt.Sprintf("%s released %s at %s and was told that it had held it, but it could not.",
				v.client(last), quoted(l.name), seconds(last.call))
		}
		r.add(f)
	}
	if n.open > 0 {
		r.complete, r.why = false, n.openWords()
	}
}

// leaseOwnership compares the answers to each grant with its lease and with the grants that followed it.
func leaseOwnership(v *view, l *lockView, r *ruling) {
	ts := l.tenures()
	j := &ownerJudge{v: v, l: l, r: r, ts: ts, longest: longestBefore(ts)}
	for i := range ts {
		j.grant(&ts[i])
	}
	for _, g := range l.grants {
		j.unfounded(g)
	}
}

type ownerJudge struct {
	v       *view
	l       *lockView
	r       *ruling
	ts      []tenure // by reply
	longest []int    // of the tenures up to here, the one whose lease lasted longest
}

func longestBefore(ts []tenure) []int {
	out := make([]int, len(ts))
	for i := range ts {
		out[i] = i
		if i == 0 {
			continue
		}
		best, _ := ts[out[i-1]].inForce()
		if own, _ := ts[i].inForce(); best > own {
			out[i] = out[i-1]
		}
	}
	return out
}

// grant walks through the answers to one grant. freed is the first definite answer by which it was over.
func (j *ownerJudge) grant(t *tenure) {
	freed := int32(-1)
	asked := j.told(t) // from a release or a loss on, not-held proves nothing
	for _, i := range j.v.ofGrant(t.grant) {
		o := &j.v.ops[i]
		switch {
		case o.act != release && o.act != extend:
		case o.ans == notHeld:
			j.notHeld(t, i, asked)
		case o.ans == okay && (o.act == extend || j.l.contract.ReleaseHeld):
			j.okay(t, i, freed)
		}
		if o.act == release {
			asked = min(asked, o.call)
		}
		if freed < 0 && (o.act == release && (o.ans == okay || o.ans == gone) || (o.act == release || o.act == extend) && o.ans == notHeld) {
			freed = i
		}
	}
}

// unfounded finds an OK to a release or an extend of what was never granted.
func (j *ownerJudge) unfounded(g int32) {
	a := j.v.grants[g].acq
	if a >= 0 && (j.v.ops[a].ans == okay || j.v.ops[a].ans == unknown) {
		return
	}
	for _, i := range j.v.ofGrant(g) {
		o := &j.v.ops[i]
		if o.ans != okay || o.act != extend && (o.act != release || !j.l.contract.ReleaseHeld) {
			continue
		}
		f := j.finding(NotTheirs, append(make([]int32, 0, 2), i)...)
		f.Ops = j.v.events(a, i)
		what := "released"
		if o.act == extend {
			what = "extended"
		}
		f.Message = fmt.Sprintf("%s %s %s at %s and was told that it had held it, but it had not been granted it.",
			j.v.client(o), what, quoted(j.l.name), seconds(o.call))
		j.r.add(f)
	}
}

// told is when t's client learnt that it had lost the lock; forever: never.
func (j *ownerJudge) told(t *tenure) time.Duration {
	for _, i := range j.v.ofGrant(t.grant) {
		if o := &j.v.ops[i]; o.act == lost {
			return o.call
		}
	}
	return forever
}

// notHeld judges a refusal to a grant whose lease could not have ended yet.
func (j *ownerJudge) notHeld(t *tenure, i int32, asked time.Duration) {
	o := &j.v.ops[i]
	if asked <= o.ret || j.crashed(t, o) {
		return
	}
	client := j.v.client(o)
	switch j.l.contract.Expiry {
	case history.Session:
		if j.v.touched(client, t.ai, o.ret) {
			return
		}
		if _, stalled := j.v.stalled(client, t.ai, o.ret); stalled {
			return
		}
	default:
		if o.ret >= j.keptUntil(t, o) {
			return
		}
	}
	f := j.finding(LostLock, t.acq, i)
	f.Message = fmt.Sprintf("%s was told at %s that it does not hold %s, which it had been granted by %s and had not released%s.",
		client, seconds(o.ret), quoted(j.l.name), seconds(t.ac), j.leaseWords(t, o))
	j.r.add(f)
}

func (j *ownerJudge) leaseWords(t *tenure, o *op) string {
	if j.l.contract.Expiry == history.Session {
		return "; nothing had touched its session"
	}
	return "; its lease could not end before " + seconds(j.keptUntil(t, o))
}

func (j *ownerJudge) crashed(t *tenure, o *op) bool { return j.v.grants[t.grant].crash <= o.call }

// keptUntil is the earliest legal end of t's lease, by the extends that were answered before o began.
func (j *ownerJudge) keptUntil(t *tenure, o *op) time.Duration {
	var end time.Duration
	for _, i := range j.v.ofGrant(t.grant) {
		x := &j.v.ops[i]
		if x.ans == okay && (x.act == acquire || x.act == extend) && x.ret <= o.call {
			end = x.call + scale(j.v.ttl(x, &j.l.contract), 1/(1+j.l.contract.Drift))
		}
	}
	return end
}

// okay judges an OK to a release or an extend of a grant that may have been over.
func (j *ownerJudge) okay(t *tenure, i, freed int32) {
	o := &j.v.ops[i]
	if freed >= 0 && j.v.ops[freed].ret < o.call {
		kind, what := DoubleRelease, "released"
		if o.act == extend {
			kind, what = Resurrected, "extended"
		}
		f := j.finding(kind, t.acq, freed, i)
		before := "its release had been answered"
		if j.v.ops[freed].ans == notHeld {
			before = "it had been told that it does not hold it"
		}
		f.Message = fmt.Sprintf("%s %s %s at %s and was told that it had held it, although %s at %s.",
			j.v.client(o), what, quoted(j.l.name), seconds(o.call), before, seconds(j.v.ops[freed].ret))
		j.r.add(f)
		return
	}
	if next := j.follower(t, o); next != nil {
		j.stranger(t, i, next)
	}
}

func (j *ownerJudge) stranger(t *tenure, i int32, next *tenure) {
	o := &j.v.ops[i]
	kind, what := StrangersRelease, "released"
	if o.act == extend {
		kind, what = Resurrected, "extended"
	}
	f := j.finding(kind, t.acq, i, next.acq)
	f.Message = fmt.Sprintf("%s %s %s at %s and was told that it had held it, but its grant of %s was over: %s had been granted the lock by %s.",
		j.v.client(o), what, quoted(j.l.name), seconds(o.call), seconds(t.ac), j.v.client(&j.v.ops[next.acq]), seconds(next.ac))
	j.r.add(f)
}

// follower finds a grant by which t's was certainly over when o was called: one that was asked for after t's reply and
// answered before o, or one whose lease was in force all through o. Grants whose leases overlap t's are left to mutual
// exclusion.
func (j *ownerJudge) follower(t *tenure, o *op) *tenure {
	if j.l.contract.NonExclusive || j.l.contract.Permits > 1 || j.l.contract.Shared || j.l.contract.Reentry > 0 {
		return nil
	}
	end := sort.Search(len(j.ts), func(k int) bool { return j.ts[k].ac >= o.call })
	for k := end - 1; k >= 0 && j.ts[k].ac > t.ac; k-- {
		if n := &j.ts[k]; n.grant != t.grant && n.ai > t.ac && !j.doubleGrant(t, n) {
			return n
		}
	}
	if end == 0 {
		return nil
	}
	n := &j.ts[j.longest[end-1]]
	if n.grant != t.grant && inForceAll(n, o.call, o.ret) && !j.doubleGrant(t, n) && !inForceAll(t, o.call, o.call) {
		return n
	}
	return nil
}

// doubleGrant says whether a and the later b are a matter of mutual exclusion.
func (j *ownerJudge) doubleGrant(a, b *tenure) bool {
	if j.l.contract.Expiry == history.Session {
		return !j.v.touched(j.v.client(&j.v.ops[a.acq]), a.ai, b.ac)
	}
	_, _, overlap := overlapping(a, b)
	return overlap
}

// inForceAll says whether t's lease was certainly in force from from to to.
func inForceAll(t *tenure, from, to time.Duration) bool {
	for i := range t.pieces {
		if p := &t.pieces[i]; p.from <= from && to < p.end() {
			return true
		}
	}
	return false
}

func (j *ownerJudge) finding(kind string, ops ...int32) Finding {
	last := &j.v.ops[ops[len(ops)-1]]
	for _, i := range ops {
		if j.v.ops[i].ret > last.ret {
			last = &j.v.ops[i]
		}
	}
	return Finding{
		Kind: kind, Lock: j.l.name, Blame: Service, Strength: Definite, At: last.ret,
		Ops: j.v.events(ops...), Grants: j.v.grantIDs(ops...), Fault: j.v.faultAt(j.v.ops[ops[0]].call, last.ret),
	}
}
