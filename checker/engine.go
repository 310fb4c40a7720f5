package checker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"unsafe"

	"github.com/locktest/locktest/history"
)

// second is what the general engine says of a lock of which the sweep could not say all.
type second struct {
	asked   bool
	verdict engineVerdict
	deeds   []deed
	witness []int32 // ops that alone are illegal
}

// engine asks the general engine about l, once. It is asked only where an owner is open and the sweep found nothing:
// what the sweep finds is certain.
func (v *view) engine(ctx context.Context, l *lockView) *second {
	l.once.Do(func() {
		n := l.holds()
		if n.open == 0 || len(n.breaches) > 0 || v.sweepFinds(l, n) {
			return
		}
		s := &l.second
		s.asked = true
		s.deeds = v.mixedDeeds(n)
		s.verdict = decideDeeds(ctx, s.deeds, exclusionAlone(l), v.budget)
		if !s.verdict.legal && s.verdict.gaveUp == "" {
			s.witness = v.shrink(ctx, l, s)
		}
	})
	return &l.second
}

// exclusionAlone leaves out tokens: their order is for fencing.
func exclusionAlone(l *lockView) *history.Contract {
	c := l.contract
	c.Tokens = history.NoTokens
	return &c
}

func (v *view) sweepFinds(l *lockView, n *normaliser) bool {
	switch c := &l.contract; {
	case c.Permits > 0:
		return len(sweepPermits(n.holds, int64(c.Permits))) > 0
	case c.Shared:
		return len(sweepReadWrite(n.holds)) > 0
	}
	return len(sweepMutex(n.holds)) > 0
}

// mixedDeeds takes the certain holds of the owners that are settled and the operations of the others as they are.
func (v *view) mixedDeeds(n *normaliser) []deed {
	open := map[int32]bool{}
	var out []deed
	for _, ids := range n.raw {
		open[v.grants[v.ops[ids[0]].grant].owner] = true
		out = v.addDeeds(out, ids)
	}
	for i := range n.holds {
		h := &n.holds[i]
		if open[h.owner] {
			continue
		}
		a := deed{call: v.ops[h.acq].call, ret: h.ac, token: v.grantedToken(h.acq), op: h.acq, owner: h.owner, weight: h.permits, shared: h.shared, act: acquire, ans: okay}
		if h.float {
			a.ret, a.ans = forever, unknown
		}
		out = append(out, a)
		if h.rel >= 0 && h.ri != forever {
			r := deed{call: h.ri, ret: h.rc, op: h.rel, owner: h.owner, weight: h.permits, shared: h.shared, act: release, ans: okay}
			if h.rc == forever {
				r.ret = r.call // an unknown release of such an owner counts from its call
			}
			out = append(out, r)
		}
	}
	sortDeeds(out)
	return out
}

// settleOpen makes a ruling on a lock with open owners complete, undecided or violated, by the general engine.
// mine says which answers that fit nothing are the property's own.
func (v *view) settleOpen(ctx context.Context, l *lockView, r *ruling, kind string, mine func(*deed) bool) {
	n := l.holds()
	if n.open == 0 || r.verdict == Violated {
		return
	}
	s := v.engine(ctx, l)
	switch {
	case !s.asked:
		return
	case s.verdict.gaveUp != "":
		r.complete, r.verdict = false, Inconclusive
		r.why = fmt.Sprintf("the sweep found nothing, but can't say all, as %s; the general engine gave up: %s", n.openWords(), s.verdict.gaveUp)
	case s.verdict.legal:
		r.complete, r.engine = true, "sweep and general engine"
		if r.verdict != Inconclusive {
			r.why = ""
		}
	case mine(&s.deeds[s.verdict.at]):
		r.complete, r.engine, r.verdict, r.why = true, "sweep and general engine", Violated, ""
		r.add(v.engineFinding(l, kind, s))
	}
}

func isAcquire(d *deed) bool { return d.act == acquire }

func isAnswer(d *deed) bool { return d.act != acquire }

func (v *view) engineFinding(l *lockView, kind string, s *second) Finding {
	d := &s.deeds[s.verdict.at]
	o := &v.ops[d.op]
	f := Finding{
		Kind: kind, Lock: l.name, Blame: Service, Strength: Definite, At: o.call, Until: v.gaveUp(o),
		Ops: v.events(s.witness...), Grants: v.grantIDs(s.witness...), Fault: v.faultAt(v.ops[s.witness[0]].call, o.call),
	}
	what := "was granted " + quoted(l.name)
	if d.act == release {
		what = "was told that it had held " + quoted(l.name)
		if d.ans == notHeld {
			what = "was told that it does not hold " + quoted(l.name)
		}
	}
	f.Message = fmt.Sprintf("%s %s by %s, and no order of the %s that show it, with the unknown ones among them taking effect at any time or never, fits all the answers.",
		v.client(o), what, seconds(v.gaveUp(o)), count(len(s.witness), "operation"))
	return f
}

// shrink looks for few operations that alone are illegal: it cuts at the failing return, then leaves out owners, and
// pairs of an acquire and its release, as long as the rest is illegal. Leaving those out makes nothing illegal that
// was legal.
func (v *view) shrink(ctx context.Context, l *lockView, s *second) []int32 {
	at := s.deeds[s.verdict.at].ret
	keep := slices.DeleteFunc(slices.Clone(s.deeds), func(d deed) bool {
		return d.call > at || d.ret > at && (d.ans == notHeld || d.ans == gone)
	})
	for i := range keep {
		if keep[i].ret > at { // it had not returned: by then it may have taken effect, or not
			keep[i].ans, keep[i].ret = unknown, forever
		}
	}
	illegal := func(ds []deed) bool {
		r := decideDeeds(ctx, slices.Clone(ds), exclusionAlone(l), v.budget)
		return !r.legal && r.gaveUp == ""
	}
	keep = dropUnits(keep, ownersOf(keep), illegal)
	keep = dropUnits(keep, pairsOf(keep), illegal)
	out := make([]int32, 0, len(keep))
	for i := range keep {
		out = append(out, keep[i].op)
	}
	return out
}

// unit is deeds that can be left out together, by op.
type unit map[int32]bool

func ownersOf(ds []deed) []unit {
	of := map[int32]unit{}
	var out []unit
	for i := range ds {
		u := of[ds[i].owner]
		if u == nil {
			u = unit{}
			of[ds[i].owner] = u
			out = append(out, u)
		}
		u[ds[i].op] = true
	}
	return out
}

// pairsOf are acquires that were granted with the next deed of their owner, a release that was answered OK.
func pairsOf(ds []deed) []unit {
	last := map[int32]*deed{}
	var out []unit
	for i := range ds {
		d := &ds[i]
		if a := last[d.owner]; a != nil && a.act == acquire && a.ans == okay && d.act == release && d.ans == okay {
			out = append(out, unit{a.op: true, d.op: true})
		}
		last[d.owner] = d
	}
	return out
}

// dropUnits is delta debugging: it tries to leave out half of the units, then smaller parts of them.
func dropUnits(ds []deed, units []unit, illegal func([]deed) bool) []deed {
	without := func(us []unit) []deed {
		all := unit{}
		for _, u := range us {
			maps.Copy(all, u)
		}
		return slices.DeleteFunc(slices.Clone(ds), func(d deed) bool { return all[d.op] })
	}
	for size := (len(units) + 1) / 2; size > 0; {
		dropped := false
		for i := 0; i < len(units); {
			j := min(i+size, len(units))
			if rest := without(units[i:j]); len(rest) > 0 && illegal(rest) {
				ds, dropped = rest, true
				units = slices.Delete(slices.Clone(units), i, j)
			} else {
				i = j
			}
		}
		if size == 1 && !dropped {
			break
		}
		if size > 1 {
			size = (size + 1) / 2
		}
	}
	return ds
}

// viewBytes is about what a view of h and the sweeps over it take.
func viewBytes(h *history.History) int {
	each := int(unsafe.Sizeof(op{}))/2 + int(unsafe.Sizeof(grant{}))/4 + int(unsafe.Sizeof(hold{}))/4 + 8
	if h.Header.ClockError > 0 {
		each *= 2 // and the same once more, widened
	}
	return each * len(h.Ops)
}
