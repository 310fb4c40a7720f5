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
	e := &leaseJudge{v: v, l: l, r: newRuling(), session: l.contract.Expiry == history.Session, stale: map[int32]staleHold{}}
	e.r.engine = "sweep"
	e.r.kinds = map[string]Verdict{}
	ts := l.tenures()
	if l.contract.Expiry == history.Lease && !slices.ContainsFunc(ts, func(t tenure) bool { return t.known }) && !l.contract.Background {
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

type leaseJudge struct {
	v       *view
	l       *lockView
	r       *ruling
	session bool
	active  []*tenure // may still matter to the next
	listed  int       // overlaps too short to count
	stalls  int       // stale holders under a stall
	stale   map[int32]staleHold
}

// meet compares t with those before it that had not ended.
func (e *leaseJudge) meet(t *tenure) {
	e.active = slices.DeleteFunc(e.active, func(a *tenure) bool { return a.span() <= t.ac })
	for _, a := range e.active {
		e.pair(a, t)
	}
	if len(e.active) == maxActive {
		e.active = e.active[1:]
		e.r.complete, e.r.why = false, fmt.Sprintf("over %d holds were open at once; not all pairs were compared", maxActive)
	}
	e.active = append(e.active, t)
}

// pair compares two grants; b's reply came last.
func (e *leaseJudge) pair(a, b *tenure) {
	if e.session {
		e.sessions(a, b)
		return
	}
	if p, q, ok := overlapping(a, b); ok {
		e.double(a, b, p, q)
		return
	}
	if a.known && a.stop > b.ac && b.stop > b.ac {
		e.outlasted(a, b, e.v.deadline(a, &e.l.contract, b.ac))
	}
}

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

func (e *leaseJudge) double(a, b *tenure, p, q *piece) {
	at, to := max(p.from, q.from), min(p.end(), q.end())
	f := e.finding(DoubleGrant, a, b, at, to)
	f.Ops = e.v.events(a.acq, p.op, b.acq, q.op)
	f.Blame = ServiceOrLibrary
	switch {
	case bothCore(p, q):
		f.Blame = Service
	case a.over || b.over:
		f.Blame = ClientLibrary
	}
	f.Message = fmt.Sprintf("%s and %s were both entitled to %s from %s to %s (%s): %s%s from %s to %s, %s%s from %s to %s.",
		e.client(a), e.client(b), quoted(e.l.name), seconds(at), seconds(to), seconds(to-at),
		e.client(a), tokenWords(e.token(a)), seconds(p.from), seconds(p.end()), e.client(b), tokenWords(e.token(b)), seconds(q.from), seconds(q.end()))
	e.keep(f)
}

func (e *leaseJudge) finding(kind string, a, b *tenure, at, to time.Duration) Finding {
	f := Finding{
		Kind: kind, Lock: e.l.name, Strength: Definite, At: at, Until: to,
		Grants: e.v.grantIDs(a.acq, b.acq), Fault: e.v.faultAt(min(a.ac, b.ac), at),
	}
	if to-at <= max(e.v.header.Pipe, 2*e.v.header.ClockError) {
		f.Strength = UnderClocks
	}
	return f
}

func (e *leaseJudge) client(t *tenure) string { return e.v.clients.text[e.v.grants[t.grant].client] }

func (e *leaseJudge) token(t *tenure) uint64 { return e.v.grants[t.grant].token }

func (e *leaseJudge) keep(f Finding) {
	if f.Strength == UnderClocks {
		e.listed++
	} else {
		e.r.numbers["double_grants"]++
	}
	e.r.add(f)
}

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
	e.r.kinds[DoubleGrant] = decide(n["double_grants"] > 0, false, len(ts) >= 2)
	e.r.kinds[StaleHolder] = decide(n["stale_holders"] > 0, e.stalls > 0, len(ts) >= 2)
	e.r.verdict = Merge(e.r.kinds[DoubleGrant], e.r.kinds[StaleHolder])
	switch {
	case e.r.verdict == Violated:
	case len(ts) < 2:
		e.r.why = "there were no two holds to compare"
	case !known:
		e.r.verdict, e.r.why = NotApplicable, "the lock renews leases in the background and does not say until when they are valid"
		e.r.kinds = map[string]Verdict{DoubleGrant: NotApplicable, StaleHolder: NotApplicable}
	case e.stalls > 0:
		e.r.why = fmt.Sprintf("the host stalled, which nobody had asked for, and %s met it", count(e.stalls, "overlap"))
	}
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
