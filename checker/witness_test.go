package checker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestVerdictsAgainstPorcupine asks the properties themselves. With the general engine behind the sweep they are exact
// for every owner, and each finding must be illegal on its own, with no owner to spare.
func TestVerdictsAgainstPorcupine(t *testing.T) {
	n, seed := fuzzCount(t)
	for name, d := range campaigns() {
		t.Run(name, func(t *testing.T) {
			w := witnesses{t: t, d: &d}
			for i := range n / 4 {
				w.judge(d.draw(rand.New(rand.NewPCG(seed, uint64(i)))), fmt.Sprintf("seed %d/%d", seed, i))
			}
			t.Logf("%d findings, %d with an owner to spare", w.found, w.spare)
			if w.found < n/40 {
				t.Errorf("only %d findings", w.found)
			}
			if w.spare*100 > w.found {
				t.Errorf("%d of %d findings have an owner to spare, over one in a hundred", w.spare, w.found)
			}
		})
	}
}

type witnesses struct {
	t            *testing.T
	d            *dice
	found, spare int
}

// exact says whether the verdicts say all: with tokens and open owners they don't.
func (w *witnesses) exact(rs []Result) bool {
	return !slices.ContainsFunc(rs, func(r Result) bool { return !r.Complete })
}

func (w *witnesses) judge(ops []small, place string) {
	if len(ops) == 0 {
		return
	}
	h, which := w.d.events(ops)
	var checkers []Checker
	for _, p := range []string{MutualExclusion, Ownership, Permits, ReadWrite, Reentrancy, Fencing} {
		checkers = append(checkers, For(p))
	}
	rs := Run(context.Background(), h, checkers, Options{})
	legal, violated := w.d.legalByPorcupine(ops), false
	for _, r := range rs {
		violated = violated || r.Verdict == Violated
		for _, f := range r.Findings {
			w.witness(ops, which, f, place)
		}
	}
	if violated && legal || w.exact(rs) && violated == legal {
		w.t.Fatalf("%s: Porcupine says legal=%v, the properties violated=%v:\n%s\n%s", place, legal, violated, spell(ops), told(rs))
	}
}

// witness takes the operations of a finding alone.
func (w *witnesses) witness(ops []small, which []int, f Finding, place string) {
	in := map[int]bool{}
	for _, e := range f.Ops {
		in[which[e]] = true
	}
	pick := func(without int32) []small {
		var out []small
		for i, o := range ops {
			if in[i] && o.owner != without {
				out = append(out, o)
			}
		}
		return out
	}
	w.found++
	alone := pick(-1)
	if w.d.legalByPorcupine(alone) {
		w.t.Fatalf("%s: the finding is legal on its own: %s\n%s\nof %s", place, f.Message, spell(alone), spell(ops))
	}
	owners := map[int32]bool{}
	for _, o := range alone {
		owners[o.owner] = true
		if o.ans == notHeld { // an owner that was told so while it held is a finding of its own
			return
		}
	}
	for owner := range owners {
		if len(owners) > 1 && !w.d.legalByPorcupine(pick(owner)) {
			w.spare++
			return
		}
	}
}
