package checker

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/locktest/locktest/history"
)

// wrongClocks is h as clients recorded it whose clocks are wrong by up to e, each by as much all the time.
func wrongClocks(r *rand.Rand, h *history.History, e int64) *history.History {
	by := map[string]time.Duration{}
	out := &history.History{Header: h.Header, Ops: slices.Clone(h.Ops)}
	for i := range out.Ops {
		o := &out.Ops[i]
		if _, seen := by[o.Client]; !seen {
			by[o.Client] = time.Duration(r.Int64N(2*e + 1)) // the same as from -e to e, e later
		}
		o.Time += by[o.Client]
		if o.Valid > 0 {
			o.Valid += by[o.Client]
		}
	}
	slices.SortStableFunc(out.Ops, func(a, b history.Op) int { return cmp.Compare(a.Time, b.Time) })
	for i := range out.Ops {
		out.Ops[i].Index = i
	}
	return out
}

// violatedBy names the properties that h violates where its time stamps are right to e.
func violatedBy(h *history.History, e int64) map[string]bool {
	h.Header.ClockError = time.Duration(e)
	out := map[string]bool{}
	for _, r := range Run(context.Background(), h, All(), Options{}) {
		if r.Verdict == Violated {
			out[r.Property] = true
		}
	}
	return out
}

// clockTrial counts what was tried.
type clockTrial struct{ legal, seemed, broken int }

// clocks asks whether h, if it is legal, still is where clocks err.
func (c *clockTrial) clocks(t *testing.T, r *rand.Rand, h *history.History, e int64) {
	t.Helper()
	if len(violatedBy(h, 0)) > 0 {
		return
	}
	wrong := wrongClocks(r, h, e)
	c.legal++
	c.seemed += bit(len(violatedBy(wrong, 0)) > 0)
	if got := violatedBy(wrong, e); len(got) > 0 {
		t.Fatalf("right clocks show nothing, those that err by %d show %v\n%+v", e, got, wrong.Ops)
	}
}

// apart asks whether what h violates, a history in which times are equal or 1000 apart, is so under clocks too.
func (c *clockTrial) apart(t *testing.T, h *history.History) {
	t.Helper()
	want, got := violatedBy(h, 0), violatedBy(h, 10)
	for p := range want {
		c.broken++
		if !got[p] {
			t.Fatalf("%s is violated by times far apart, but not under clocks\n%+v", p, h.Ops)
		}
	}
}

func far(h *history.History) *history.History {
	for i := range h.Ops {
		h.Ops[i].Time *= 1000
		h.Ops[i].Valid *= 1000
	}
	return h
}

// A lock is not accused of what clocks do, if the bound on their error is true; of what they can't explain it is.
func TestClocksAreTrustedNoFurther(t *testing.T) {
	n, seed := fuzzCount(t)
	for _, model := range []string{"mutex", "fenced", "semaphore", "rw", "re-entrant"} {
		for _, reuse := range []bool{false, true} {
			d := &dice{model: model, limit: 2, permits: 2, weights: 1, owners: 4, ops: 24, unknown: 0.15, reuse: reuse}
			var c clockTrial
			for i := range n / 10 {
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				c.clocks(t, r, d.history(d.tidy(d.simulated(r))), 1+r.Int64N(6))
				c.apart(t, far(d.history(d.draw(r))))
			}
			if c.seemed < c.legal/50 || c.broken < n/100 {
				t.Errorf("%s, reuse %v: %+v: too few", model, reuse, c)
			}
		}
	}
}

// The same of leases.
func TestClocksOfLeases(t *testing.T) {
	n, seed := fuzzCount(t)
	var c clockTrial
	for i := range n / 10 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		c.clocks(t, r, parsed(t, drawLease(r)), int64(time.Millisecond)*(1+r.Int64N(6)))
		h := far(parsed(t, drawLease(r)))
		h.Header.Locks[0].Contract.TTL *= 1000
		c.apart(t, h)
	}
	if c.seemed < c.legal/50 || c.broken < n/100 {
		t.Errorf("%+v: too few", c)
	}
}
