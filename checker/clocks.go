package checker

import (
	"fmt"
	"slices"
	"time"
)

// widen makes each operation begin earlier and end later by slack, a bound on the error of each time stamp: whatever the
// clocks showed, it truly lay inside. What contradicts a promise even then is certain. The order of events of one process
// needs no clock, so it stays.
func (v *view) widen(slack time.Duration) {
	v.slack = slack
	v.end = plus(v.end, slack)
	for i := range v.ops {
		o := &v.ops[i]
		o.call = max(0, o.call-slack)
		if o.ret != forever {
			o.ret = plus(o.ret, slack)
		}
	}
	for g := range v.grants {
		if c := &v.grants[g].crash; *c != forever {
			*c = max(0, *c-slack)
		}
	}
}

// widerView is v with its time stamps widened by the clocks' error; nil where they have none.
func (v *view) widerView() *view {
	slack := v.header.ClockError
	if slack <= 0 || v.slack > 0 {
		return nil
	}
	w, err := makeView(v.h, slack)
	if err != nil { // v was made from the same history
		return nil
	}
	w.budget, w.most = v.budget, v.most
	return w
}

// validUntil is until when the client believed at least that its lease lasts, by what o told it; 0: it doesn't say.
func (v *view) validUntil(o *op) time.Duration {
	if valid := v.done(o).Valid; valid > 0 {
		return max(1, valid-v.slack)
	}
	return 0
}

// heedClocks keeps of raw, what the time stamps say, only what sure says too, which trusts them no further than slack. The
// rest is told apart.
func heedClocks(raw, sure Result, slack time.Duration) Result {
	r := sure
	certain := map[string]bool{}
	for i := range sure.Findings {
		certain[witness(&sure.Findings[i])] = true
	}
	r.Findings = slices.Clone(raw.Findings)
	doubtful := 0
	for i := range r.Findings {
		f := &r.Findings[i]
		if key := witness(f); certain[key] {
			delete(certain, key)
		} else if f.Strength == Definite || f.Strength == Hazard {
			f.Strength = UnderClocks
			doubtful++
		}
	}
	for i := range sure.Findings { // shown by other operations
		if certain[witness(&sure.Findings[i])] {
			r.Findings = append(r.Findings, sure.Findings[i])
		}
	}
	if _, counted := r.Numbers["overlaps_under_clocks"]; counted {
		r.Numbers["overlaps_under_clocks"] += float64(doubtful)
	}
	r.Count = max(r.Count, len(r.Findings))
	if doubtful > 0 {
		r.Summary += fmt.Sprintf(", %s within the clocks' error", grouped(doubtful))
	}
	for kind, was := range raw.Kinds {
		if was == Violated && sure.Kinds[kind] != Violated {
			r.Kinds[kind] = Inconclusive
		}
	}
	if sure.Verdict != Violated {
		r.Verdict = Inconclusive
		r.Why = fmt.Sprintf("the clocks' error of %s may be all that shows %s", seconds(slack), count(doubtful, "finding"))
	}
	return r
}

// witness tells findings apart by what they show.
func witness(f *Finding) string { return fmt.Sprint(f.Kind, f.Lock, f.Resource, f.Ops) }

// asMoments makes a hold that may have had no length one that was held at some moment: between the call that ended it and
// the reply that began it. Only widened time stamps make such.
func asMoments(holds []hold) {
	for i := range holds {
		if h := &holds[i]; !h.float && h.ri < h.ac {
			h.float, h.rc, h.ac = true, h.ac, forever
		}
	}
}
