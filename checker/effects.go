package checker

import (
	"fmt"
	"time"

	"github.com/locktest/locktest/history"
)

// effects adds to coverage's numbers what each planned fault did, as far as that was seen: for how long holds met in which it
// had a part (fault_N_overlap_s), which share of the writes while it was in effect was lost (fault_N_lost_updates_percent),
// how long a holder took to notice at most that its lease had ended (fault_N_notice_s), and how long after its begin, at
// most, a lock that was held then was granted to another (fault_N_free_s).
func (v *view) effects(results []Result) {
	var cover *Result
	for i := range results {
		if results[i].Property == Coverage {
			cover = &results[i]
		}
	}
	if cover == nil || cover.Numbers == nil {
		return
	}
	add := func(fault int, what string, x float64) {
		if key := fmt.Sprintf("fault_%d_%s", fault, what); fault > 0 {
			cover.Numbers[key] += x
		}
	}
	for _, r := range results {
		for _, f := range r.Findings {
			switch {
			case r.Property == MutualExclusion:
				add(f.Fault, "overlap_s", (f.Until - f.At).Seconds())
			case f.Kind == LostUpdate:
				if n := v.writesUnder(f.Fault); n > 0 {
					add(f.Fault, "lost_updates_percent", 100/float64(n))
				}
			}
		}
	}
	for i := range v.faults {
		w := &v.faults[i]
		for k := range v.locks {
			notice, free := v.aftermath(&v.locks[k], w)
			raise(cover.Numbers, w.number, "notice_s", notice)
			raise(cover.Numbers, w.number, "free_s", free)
		}
	}
}

func raise(numbers map[string]float64, fault int, what string, d time.Duration) {
	if key := fmt.Sprintf("fault_%d_%s", fault, what); fault > 0 && d > 0 {
		numbers[key] = max(numbers[key], d.Seconds())
	}
}

// writesUnder counts the accepted writes while a planned fault was in effect.
func (v *view) writesUnder(fault int) int {
	n := 0
	for i := range v.ops {
		o := &v.ops[i]
		if o.act != write || o.ans != okay {
			continue
		}
		for k := range v.faults {
			if w := &v.faults[k]; w.number == fault && w.meets(o.call, o.ret) {
				n++
				break
			}
		}
	}
	return n
}

// aftermath looks at those who held l when w began: how late one of them learnt that its lease was over, and how long it took
// until another was granted the lock.
func (v *view) aftermath(l *lockView, w *window) (notice, free time.Duration) {
	ts := l.tenures()
	for i := range ts {
		t := &ts[i]
		if t.ac > w.from || t.stop < w.from {
			continue
		}
		if until, alive := t.inForce(); l.contract.Expiry == history.Lease && alive && v.noticed(t) && t.stop != forever {
			notice = max(notice, t.stop-until)
		}
		for k := i + 1; k < len(ts); k++ {
			if v.grants[ts[k].grant].client != v.grants[t.grant].client && ts[k].ac > w.from {
				free = max(free, ts[k].ac-w.from)
				break
			}
		}
	}
	return notice, free
}
