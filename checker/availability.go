package checker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locktest/locktest/history"
)

// judgeAvailability measures the share of acquire attempts that were answered, by a grant or by a definite "somebody
// else holds it". It knows no limit: a scenario compares the numbers with its own. The last
// attempts of a run, when it is drained, don't count.
func judgeAvailability(ctx context.Context, v *view) Result {
	drain, ok := v.phases[history.PhaseDrain]
	if !ok {
		drain = forever
	}
	var calm, faulty tally
	for i := range v.locks {
		l := &v.locks[i]
		for _, a := range l.acquires {
			o := &v.ops[a]
			if o.call >= drain {
				continue
			}
			if v.calm(o, l.contract.TTL) {
				calm.add(o)
			} else {
				faulty.add(o)
			}
		}
	}
	all := tally{calm.all + faulty.all, calm.answered + faulty.answered}
	r := Result{Verdict: Held, Complete: true, Numbers: map[string]float64{}}
	calm.write(r.Numbers, "calm")
	faulty.write(r.Numbers, "faults")
	all.write(r.Numbers, "all")
	r.Summary = availabilityWords(calm, faulty)
	if all.all == 0 {
		r.Verdict, r.Why, r.Summary = Inconclusive, "nobody asked for a lock", "nobody asked for a lock"
	}
	return r
}

// calm says whether o lay wholly outside of every fault and the time of a lease after it.
func (v *view) calm(o *op, ttl time.Duration) bool {
	return !slices.ContainsFunc(v.faults, func(w window) bool { return w.from <= v.gaveUp(o) && o.call <= w.to+ttl })
}

type tally struct{ all, answered int }

func (t *tally) add(o *op) {
	t.all++
	if o.ans == okay || o.ans == busy {
		t.answered++
	}
}

// write sets the share, from 0 to 1, and how many attempts it is of. A share of nothing is left out.
func (t *tally) write(numbers map[string]float64, name string) {
	numbers["attempts_"+name] = float64(t.all)
	if t.all > 0 {
		numbers[name] = float64(t.answered) / float64(t.all)
	}
}

func availabilityWords(calm, faulty tally) string {
	s := "no attempt in calm time"
	if calm.all > 0 {
		s = fmt.Sprintf("%.1f %% in calm time", percent(calm.answered, calm.all))
	}
	if faulty.all > 0 {
		s += fmt.Sprintf("; %.1f %% during faults", percent(faulty.answered, faulty.all))
	}
	return s
}
