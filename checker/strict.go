package checker

import (
	"context"
	"fmt"
)

// strictExclusion judges a lock whose grants do not end by themselves: linearizability of an owner-aware mutex, by
// comparing certain holds.
func strictExclusion(ctx context.Context, v *view, l *lockView) *ruling {
	r := newRuling()
	r.engine = "sweep"
	r.kinds = map[string]Verdict{DoubleGrant: Held, StaleHolder: NotApplicable}
	n := l.holds()
	r.numbers["holds"] = float64(len(n.holds))
	for _, b := range n.breaches {
		if b.kind == secondGrant && l.contract.Reentry == 0 {
			r.add(v.secondGrant(l, b))
		}
	}
	for _, c := range sweepMutex(n.holds) {
		r.add(v.overlap(l, c))
	}
	r.settle(n)
	v.settleOpen(ctx, l, r, DoubleGrant, isAcquire)
	r.numbers["double_grants"] = max(r.numbers["double_grants"], float64(bit(r.verdict == Violated)))
	r.kinds[DoubleGrant] = r.verdict
	return r
}

// settle counts the findings and draws the verdict.
func (r *ruling) settle(n *normaliser) {
	r.numbers["double_grants"] += float64(len(r.findings))
	switch {
	case len(r.findings) > 0:
		r.verdict = Violated
	case r.numbers["holds"] < 2:
		r.verdict, r.why = Inconclusive, "there were no two holds to compare"
	}
	if n.open > 0 {
		r.complete = false
		if r.why == "" {
			r.why = n.openWords()
		}
	}
}

func (v *view) secondGrant(l *lockView, b breach) Finding {
	o := &v.ops[b.ops[len(b.ops)-1]]
	first := &v.ops[b.ops[0]]
	return Finding{
		Kind: DoubleGrant, Lock: l.name, Blame: Service, Strength: Definite, At: o.call, Until: o.ret,
		Ops: v.events(b.ops...), Grants: v.grantIDs(b.ops...), Fault: v.faultAt(first.call, b.at),
		Message: fmt.Sprintf("%s was granted %s again at %s although it still held it, since %s, and the lock is not re-entrant.",
			v.client(o), quoted(l.name), seconds(o.ret), seconds(first.ret)),
	}
}

// overlap tells of two certain holds at once.
func (v *view) overlap(l *lockView, c clash) Finding {
	f := Finding{
		Kind: DoubleGrant, Lock: l.name, Blame: Service, Strength: Definite, At: c.at, Until: min(c.to, v.end),
		Ops: v.events(c.a.acq, c.a.rel, c.b.acq, c.b.rel), Grants: v.grantIDs(c.a.acq, c.b.acq),
		Fault: v.faultAt(min(v.ops[c.a.acq].call, v.ops[c.b.acq].call), c.at),
	}
	if c.float {
		f.Message = v.floatWords(l, c)
	} else {
		f.Message = v.overlapWords(l, c)
	}
	return f
}

func (v *view) overlapWords(l *lockView, c clash) string {
	return fmt.Sprintf("%s was granted %s by %s and %s; %s was granted it by %s and %s. Whatever happened inside the calls, both held it from %s to %s (%s).",
		v.client(&v.ops[c.a.acq]), quoted(l.name), seconds(c.a.ac), v.releaseWords(&c.a),
		v.client(&v.ops[c.b.acq]), seconds(c.b.ac), v.releaseWords(&c.b),
		seconds(c.at), seconds(min(c.to, v.end)), seconds(min(c.to, v.end)-c.at))
}

func (v *view) releaseWords(h *hold) string {
	switch {
	case h.rel < 0:
		return "never released it"
	case h.told:
		return "was told at " + seconds(h.ri) + " that it does not hold it"
	}
	return "did not ask to release it before " + seconds(h.ri)
}

func (v *view) floatWords(l *lockView, c clash) string {
	return fmt.Sprintf("%s released %s between %s and %s and was told that it had held it, so its acquire, called at %s and never answered, had been granted; but %s held it all that time, from %s to %s.",
		v.client(&v.ops[c.b.acq]), quoted(l.name), seconds(c.b.ri), seconds(c.b.rc), seconds(v.ops[c.b.acq].call),
		v.client(&v.ops[c.a.acq]), seconds(c.a.ac), seconds(min(c.a.ri, v.end)))
}

func quoted(name string) string { return `"` + name + `"` }

// grantIDs returns the history's numbers of the grants of ops, ascending and each once.
func (v *view) grantIDs(ops ...int32) []int {
	var out []int
	for _, i := range ops {
		if i < 0 || v.ops[i].grant < 0 {
			continue
		}
		if id := v.grants[v.ops[i].grant].id; id != 0 {
			out = append(out, id)
		}
	}
	return ascending(out)
}
