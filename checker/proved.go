package checker

import (
	"fmt"
	"slices"
	"time"
)

// provedExclusion judges leases of which nobody knows how long they last: a grant certainly lasted until the call of
// its last extend or release that was answered OK, as that proves that it was never lost in between; a grant without
// one existed at some moment of its acquire.
func provedExclusion(v *view, l *lockView, ts []tenure) *ruling {
	r := newRuling()
	r.engine = "sweep"
	holds := v.provedHolds(l, ts)
	r.numbers["holds"] = float64(len(ts))
	for _, c := range sweepMutex(holds) {
		f := v.overlap(l, c)
		if c.float && c.b.ac != forever {
			f.Message = fmt.Sprintf("%s was granted %s at some moment from %s to %s, but %s held it all that time: it was granted it by %s, and the answer to what it asked at %s proves that it had not lost it.",
				v.holder(&c.b), quoted(l.name), seconds(c.b.ri), seconds(c.b.rc), v.holder(&c.a), seconds(c.a.ac), seconds(c.a.ri))
		}
		r.numbers["double_grants"]++
		r.add(f)
	}
	v.squeezed(l, holds, r)
	for i := range ts {
		r.numbers["lost_and_noticed"] += float64(bit(v.noticed(&ts[i])))
	}
	double := decide(r.numbers["double_grants"] > 0, false, len(ts) >= 2)
	r.kinds = map[string]Verdict{DoubleGrant: double, StaleHolder: NotApplicable}
	r.verdict = double
	if double == Inconclusive {
		r.why = "there were no two holds to compare"
	}
	return r
}

func (v *view) provedHolds(l *lockView, ts []tenure) []hold {
	holds := make([]hold, 0, len(ts))
	for i := range ts {
		holds = append(holds, v.proved(l, &ts[i]))
	}
	return append(holds, v.provedUnknown(l)...)
}

// squeezed finds grants whose every moment was taken by holds that overlap each other.
func (v *view) squeezed(l *lockView, holds []hold, r *ruling) {
	solid, floats := split(holds)
	slices.SortFunc(solid, byAcquired)
	for _, c := range strayFloats(solid, floats) {
		if len(c.holds) < 3 {
			continue
		}
		f := v.crowdFinding(DoubleGrant, l, c)
		last := &c.holds[len(c.holds)-1]
		f.Message = fmt.Sprintf("%s was granted %s at some moment from %s to %s, but %s held it all that time.",
			v.holder(last), quoted(l.name), seconds(c.at), seconds(c.to), v.holders(c.holds[:len(c.holds)-1]))
		r.numbers["double_grants"]++
		r.add(f)
	}
}

// proved is t as far as answers prove it; where none does, it is a moment of the acquire.
func (v *view) proved(l *lockView, t *tenure) hold {
	h := hold{ac: t.ac, ri: t.ai, rc: t.ac, acq: t.acq, rel: -1, float: true}
	for _, i := range v.ofGrant(t.grant) {
		o := &v.ops[i]
		proves := o.ans == okay && (o.act == extend || o.act == release && l.contract.ReleaseHeld)
		if proves && o.call >= t.ac && (h.float || o.call > h.ri) {
			h.float, h.ri, h.rc, h.rel = false, o.call, o.ret, i
		}
		if o.act == release || o.ans == notHeld {
			break
		}
	}
	return h
}

// provedUnknown are the unknown acquires whose first OK proves that they were granted.
func (v *view) provedUnknown(l *lockView) []hold {
	var out []hold
	for _, g := range l.grants {
		a := v.grants[g].acq
		if a < 0 || v.ops[a].ans != unknown {
			continue
		}
		h := hold{ac: forever, acq: a, rel: -1, float: true}
		last := time.Duration(-1)
		for _, i := range v.ofGrant(g) {
			o := &v.ops[i]
			if o.ans != okay || o.act != extend && (o.act != release || !l.contract.ReleaseHeld) {
				continue
			}
			if last < 0 {
				h.ri, h.rc, h.rel = o.call, o.ret, i
			} else {
				h.float, h.ac, h.ri, h.rc, h.rel = false, min(h.ac, h.rc), o.call, o.ret, i
			}
			last = o.call
		}
		if last >= 0 {
			out = append(out, h)
		}
	}
	return out
}
