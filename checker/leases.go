package checker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locktest/locktest/history"
)

// maxActive bounds how many tenures at once are compared with each new one. Only a lock that is granted to everyone,
// or never released, comes near it.
const maxActive = 256

// leaseExclusion judges a lock whose grants end by themselves. Two of them may be in force at once (a double grant),
// or one client may go on as holder after its own lease had ended (a stale holder).
func leaseExclusion(ctx context.Context, v *view, l *lockView) *ruling {
	e := &leaseJudge{v: v, l: l, r: newRuling(), session: l.contract.Expiry == history.Session, stale: map[int32]*staleHold{}}
	e.r.engine = "sweep"
	e.r.kinds = map[string]Verdict{}
	ts := l.tenures()
	if onlyProved(l, ts) {
		return provedExclusion(v, l, ts)
	}
	for i := range ts {
		if i%1024 == 0 && ctx.Err() != nil {
			break
		}
		e.meet(&ts[i])
	}
	e.staleHolds()
	e.count(ts)
	e.verdict(ts)
	return e.r
}

// onlyProved says whether nobody knows how long any of the leases ts of l lasts, so that answers alone say what was held.
func onlyProved(l *lockView, ts []tenure) bool {
	c := &l.contract
	return c.Expiry == history.Lease && !c.Background && c.Reentry == 0 && !slices.ContainsFunc(ts, func(t tenure) bool { return t.known })
}

type leaseJudge struct {
	v       *view
	l       *lockView
	r       *ruling
	session bool
	active  []*tenure // may still matter to the next
	best    doubling  // of the grant that is looked at
	stale   map[int32]*staleHold
	built   [3]int // findings put into words, by standing
	tiny    [2]int // overlaps too short to count, of double grants and of stale holders, that nothing else excuses
	listed  int    // overlaps too short to count
	stalls  int    // stale holders under a stall
	slow    int    // those of them whose reply came late
}

// doubling is a grant, and how it met an earlier one that was in force. p and q are nil where sessions met.
type doubling struct {
	a        *tenure
	p, q     *piece
	at, to   time.Duration
	strength Strength
}

// meet compares t with those before it that had not ended. Of the double grants that it makes only one is kept: the
// first that counts.
func (e *leaseJudge) meet(t *tenure) {
	e.active = slices.DeleteFunc(e.active, func(a *tenure) bool { return a.span() <= t.ac })
	e.best = doubling{}
	for _, a := range e.active {
		e.pair(a, t)
	}
	if e.best.a != nil {
		e.double(&e.best, t)
	}
	if len(e.active) == maxActive {
		e.active = e.active[1:]
		e.r.complete, e.r.why = false, fmt.Sprintf("over %d holds were open at once; not all pairs were compared", maxActive)
	}
	e.active = append(e.active, t)
}

// pair compares two grants; b's reply came last.
func (e *leaseJudge) pair(a, b *tenure) {
	if e.l.contract.Reentry > 0 && e.v.grants[a.grant].owner == e.v.grants[b.grant].owner {
		return // its holder took it again
	}
	if e.session {
		e.sessions(a, b)
		return
	}
	if p, q, ok := overlapping(a, b); ok {
		e.doubled(doubling{a: a, p: p, q: q, at: max(p.from, q.from), to: min(p.end(), q.end())})
		return
	}
	if a.known && a.stop > b.ac && b.stop > b.ac {
		e.outlasted(a, b, e.v.deadline(a, &e.l.contract, b.ac))
	}
}

func (e *leaseJudge) doubled(d doubling) {
	d.strength = e.strength(d.at, d.to)
	if e.best.a == nil || standing(d.strength) < standing(e.best.strength) {
		e.best = d
	}
}

// strength is UnderClocks for an overlap too short to count.
func (e *leaseJudge) strength(at, to time.Duration) Strength {
	if to-at <= e.v.discernible() {
		return UnderClocks
	}
	return Definite
}

// discernible is the longest time that may only seem to have passed, by what a client's reply takes to be recorded.
func (v *view) discernible() time.Duration { return v.header.Pipe }

// overlapping finds pieces of a and b that were in force at the same time, preferring those that the lock promises.
func overlapping(a, b *tenure) (p, q *piece, ok bool) {
	for i := range a.pieces {
		for j := range b.pieces {
			x, y := &a.pieces[i], &b.pieces[j]
			if max(x.from, y.from) >= min(x.end(), y.end()) {
				continue
			}
			if p == nil || bothCore(x, y) && !bothCore(p, q) {
				p, q, ok = x, y, true
			}
		}
	}
	return p, q, ok
}

func bothCore(x, y *piece) bool { return max(x.from, y.from) < min(x.core, y.core) }

// double counts the double grant b, and puts it into words unless there are enough of them.
func (e *leaseJudge) double(d *doubling, b *tenure) {
	if d.strength == UnderClocks {
		e.listed++
		e.tiny[0]++
	} else {
		e.r.numbers["double_grants"]++
	}
	if !e.tell(d.strength) {
		return
	}
	f := e.finding(DoubleGrant, d.a, b, d.at, d.to)
	f.Strength = d.strength
	if d.p == nil {
		f.Ops, f.Blame = e.v.events(d.a.acq, d.a.stopBy, b.acq), Service
		f.Message = e.sessionWords(d.a, b, d.to-d.at)
	} else {
		e.describe(&f, d, b)
	}
	e.r.add(f)
}

// tell says whether one more finding of that strength is to be put into words, and counts it.
func (e *leaseJudge) tell(s Strength) bool {
	n := &e.built[standing(s)]
	if *n == e.v.mostFindings() {
		e.r.more++
		return false
	}
	*n++
	return true
}

func (e *leaseJudge) describe(f *Finding, d *doubling, b *tenure) {
	a, p, q := d.a, d.p, d.q
	f.Ops = e.v.events(a.acq, p.op, b.acq, q.op)
	f.Blame = ServiceOrLibrary
	switch {
	case bothCore(p, q):
		f.Blame = Service
	case a.over || b.over:
		f.Blame = ClientLibrary
	}
	f.Message = fmt.Sprintf("%s and %s were both entitled to %s from %s to %s (%s): %s%s from %s to %s, %s%s from %s to %s.",
		e.client(a), e.client(b), quoted(e.l.name), seconds(d.at), seconds(d.to), seconds(d.to-d.at),
		e.client(a), tokenWords(e.token(a)), seconds(p.from), seconds(p.end()), e.client(b), tokenWords(e.token(b)), seconds(q.from), seconds(q.end()))
}

func (e *leaseJudge) finding(kind string, a, b *tenure, at, to time.Duration) Finding {
	return Finding{
		Kind: kind, Lock: e.l.name, Strength: Definite, At: at, Until: to,
		Grants: e.v.grantIDs(a.acq, b.acq), Fault: e.v.faultAt(min(a.ac, b.ac), at),
	}
}

func (e *leaseJudge) client(t *tenure) string { return e.v.clients.text[e.v.grants[t.grant].client] }

func (e *leaseJudge) token(t *tenure) uint64 { return e.v.grants[t.grant].token }

// count sets the numbers that don't come from findings.
func (e *leaseJudge) count(ts []tenure) {
	e.r.numbers["holds"] = float64(len(ts))
	e.r.numbers["overlaps_under_clocks"] = float64(e.listed)
	e.r.numbers["overlaps_under_stall"] = float64(e.stalls)
	for i := range ts {
		t := &ts[i]
		if t.dead && !e.session {
			e.r.numbers["dead_on_arrival"]++
		}
		if t.over {
			e.r.numbers["validity_over_reported"]++
		}
		if e.v.noticed(t) {
			e.r.numbers["lost_and_noticed"]++
		}
	}
}

// noticed says whether t's client was told that it had lost the lock: by an event, or by a not-held answer to its
// first release or to an extend.
func (v *view) noticed(t *tenure) bool {
	for _, i := range v.ofGrant(t.grant) {
		switch o := &v.ops[i]; {
		case o.act == lost, o.act == extend && o.ans == notHeld:
			return true
		case o.act == release:
			return o.ans == notHeld
		}
	}
	return false
}

func (e *leaseJudge) verdict(ts []tenure) {
	known := e.session || slices.ContainsFunc(ts, func(t tenure) bool { return t.known })
	n := e.r.numbers
	e.r.kinds[DoubleGrant] = decide(n["double_grants"] > 0, e.tiny[0] > 0, len(ts) >= 2)
	e.r.kinds[StaleHolder] = decide(n["stale_holders"] > 0, e.stalls+e.tiny[1] > 0, len(ts) >= 2)
	e.r.verdict = Merge(e.r.kinds[DoubleGrant], e.r.kinds[StaleHolder])
	switch {
	case e.r.verdict == Violated:
	case len(ts) < 2:
		e.r.why = "there were no two holds to compare"
	case !known:
		e.r.verdict, e.r.why = NotApplicable, "the lock renews leases in the background and does not say until when they are valid"
		e.r.kinds = map[string]Verdict{DoubleGrant: NotApplicable, StaleHolder: NotApplicable}
	case e.stalls > e.slow:
		e.r.why = stalledWords(e.stalls)
	case e.slow > 0:
		e.r.why = fmt.Sprintf("the reply to the acquire came so late that less than the hold was left of the lease, in %s", count(e.slow, "overlap"))
	case e.tiny[0]+e.tiny[1] > 0:
		e.r.why = e.v.tinyWords(e.tiny[0] + e.tiny[1])
	}
}

// stalledWords is the reason for Inconclusive where a stall may explain n overlaps.
func stalledWords(n int) string {
	return fmt.Sprintf("the host stalled, which nobody had asked for, and %s met it", count(n, "overlap"))
}

// tinyWords is the reason for Inconclusive where n overlaps were too short to count.
func (v *view) tinyWords(n int) string {
	return fmt.Sprintf("%s lasted no longer than a reply may take to be recorded (%s)", count(n, "overlap"), seconds(v.discernible()))
}

func decide(violated, doubt, opportunity bool) Verdict {
	switch {
	case violated:
		return Violated
	case doubt, !opportunity:
		return Inconclusive
	}
	return Held
}
