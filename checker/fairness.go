package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"time"
)

// Bypassed is the kind of finding of Fairness: who asked later was granted first.
const Bypassed = "bypassed"

// judgeFairness counts, for each grant, those who asked later and were granted before. It is a verdict only for a lock
// that promises first come, first served, and there only where the later one asked by so much later that no network
// could have turned the two round, with no fault in effect and no process stalled by the host.
func judgeFairness(ctx context.Context, v *view) Result {
	var rs []*ruling
	for i := range v.locks {
		if ctx.Err() == nil {
			rs = append(rs, fairnessOf(v, &v.locks[i]))
		}
	}
	r := sum(rs)
	if r.Verdict != NotApplicable && r.Verdict != Inconclusive {
		r.Summary = fmt.Sprintf("passed over %d times at most, longest wait %.3f s", int(r.Numbers["most_bypassed"]), r.Numbers["longest_wait_s"])
	}
	return r
}

// turn is how much later a request must be sent to be certain to arrive later.
func (v *view) turn() time.Duration { return max(100*time.Millisecond, 10*v.header.Pipe) + 2*v.slack }

func fairnessOf(v *view, l *lockView) *ruling {
	r := newRuling()
	r.engine = "sweep"
	v.waits(l, r)
	v.wakeups(l, r)
	switch {
	case !l.contract.Blocking && !l.contract.FIFO:
		r.verdict, r.why = NotApplicable, "clients ask again and again: whoever asks at the right moment is granted"
		return r
	case !l.contract.FIFO:
		r.verdict, r.why = NotApplicable, fmt.Sprintf("%s promises no order", quoted(l.name))
		return r
	}
	v.bypasses(l, r)
	switch {
	case len(r.findings) > 0:
		r.verdict = Violated
	case r.numbers["waited"] == 0:
		r.verdict, r.why = Inconclusive, "nobody waited long enough to be passed over"
	}
	return r
}

// waits measures the longest wait, and how evenly grants were spread: Jain's index over clients.
func (v *view) waits(l *lockView, r *ruling) {
	grants := map[int32]float64{}
	for _, i := range l.acquires {
		o := &v.ops[i]
		if o.ans != okay {
			continue
		}
		r.numbers["longest_wait_s"] = max(r.numbers["longest_wait_s"], (o.ret - o.call).Seconds())
		r.numbers["waited"] += float64(bit(o.ret-o.call > v.turn()))
		grants[o.client]++
	}
	sum, squares := 0.0, 0.0
	for _, n := range grants {
		sum += n
		squares += n * n
	}
	if squares > 0 {
		r.numbers["jain_index"] = sum * sum / (float64(len(grants)) * squares)
	}
}

// wakeups measures how long a lock stayed unused after a release was answered OK, with somebody waiting all that time.
func (v *view) wakeups(l *lockView, r *ruling) {
	if noExclusion(&l.contract) != "" {
		return
	}
	granted := slices.DeleteFunc(slices.Clone(l.acquires), func(i int32) bool { return v.ops[i].ans != okay })
	slices.SortStableFunc(granted, func(a, b int32) int { return cmp.Compare(v.ops[a].ret, v.ops[b].ret) })
	for _, g := range l.grants {
		for _, i := range v.ofGrant(g) {
			o := &v.ops[i]
			if o.act != release || o.ans != okay && o.ans != gone {
				continue
			}
			k := sort.Search(len(granted), func(k int) bool { return v.ops[granted[k]].ret > o.ret })
			if k < len(granted) && v.ops[granted[k]].call < o.call {
				r.numbers["slowest_wakeup_s"] = max(r.numbers["slowest_wakeup_s"], (v.ops[granted[k]].ret - o.ret).Seconds())
				r.numbers["wakeups"]++
			}
		}
	}
}

// bypasses goes through grants from the last asked to the first, and counts, of those asked later by more than a turn,
// how many were granted before.
func (v *view) bypasses(l *lockView, r *ruling) {
	again := v.nestedAcquires(l)
	byCall := slices.DeleteFunc(slices.Clone(l.acquires), func(i int32) bool { return v.ops[i].ans != okay || again[i] })
	slices.SortStableFunc(byCall, func(a, b int32) int { return cmp.Compare(v.ops[b].call, v.ops[a].call) })
	byReply := slices.Clone(byCall)
	slices.SortStableFunc(byReply, func(a, b int32) int { return cmp.Compare(v.ops[a].ret, v.ops[b].ret) })
	rank := make(map[int32]int, len(byReply))
	for k, i := range byReply {
		rank[i] = k
	}
	counts := make(counter, len(byReply)+1)
	added := 0
	for _, i := range byCall {
		o := &v.ops[i]
		for ; v.ops[byCall[added]].call > o.call+v.turn(); added++ {
			counts.add(rank[byCall[added]])
		}
		before := sort.Search(len(byReply), func(k int) bool { return v.ops[byReply[k]].ret >= o.ret })
		n := counts.below(before)
		r.numbers["most_bypassed"] = max(r.numbers["most_bypassed"], float64(n))
		switch {
		case n == 0 || v.faultAt(o.call, o.ret) != 0 || v.anyFault(o.call, o.ret):
		case v.anyStall(o.call, o.ret): // its request may have lain there
			r.numbers["bypassed_under_stall"]++
		default:
			r.add(v.bypass(l, i, n, byReply[:before]))
		}
	}
}

// nestedAcquires are those by which the holder of a re-entrant lock took it again: it waits for nobody.
func (v *view) nestedAcquires(l *lockView) map[int32]bool {
	out := map[int32]bool{}
	if l.contract.Reentry == 0 {
		return out
	}
	v.eachOwner(l, func(ids []int32) {
		depth := 0
		for _, i := range ids {
			switch o := &v.ops[i]; {
			case o.act == acquire && o.ans == okay:
				out[i] = depth > 0
				depth++
			case o.act == release && depth > 0:
				depth--
			}
		}
	})
	return out
}

func (v *view) anyFault(from, to time.Duration) bool {
	return slices.ContainsFunc(v.faults, func(w window) bool { return w.meets(from, to) })
}

// bypass names one of those who came later and were granted before i.
func (v *view) bypass(l *lockView, i int32, n int, before []int32) Finding {
	o := &v.ops[i]
	k := slices.IndexFunc(before, func(j int32) bool { return v.ops[j].call > o.call+v.turn() })
	other := &v.ops[before[k]]
	return Finding{
		Kind: Bypassed, Lock: l.name, Blame: Service, Strength: Definite, At: o.call, Until: o.ret,
		Ops: v.events(i, before[k]), Grants: v.grantIDs(i, before[k]),
		Message: fmt.Sprintf("%s asked for %s at %s and was granted it at %s; %s asked only at %s and was granted it before, at %s, although the lock promises first come, first served: %s passed it over in all.",
			v.client(o), quoted(l.name), seconds(o.call), seconds(o.ret), v.client(other), seconds(other.call), seconds(other.ret), count(n, "grant")),
	}
}

// counter counts ranks: a binary indexed tree (Fenwick, Software: Practice and Experience, 1994).
type counter []int

func (c counter) add(rank int) {
	for k := rank + 1; k < len(c); k += k & -k {
		c[k]++
	}
}

// below is how many ranks lower than n were added.
func (c counter) below(n int) int {
	sum := 0
	for k := n; k > 0; k &= k - 1 {
		sum += c[k]
	}
	return sum
}
