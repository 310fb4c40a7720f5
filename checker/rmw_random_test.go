package checker

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/locktest/locktest/history"
)

// drawUpdates writes a random history of updates, each computed from a version that it names. Half of them come from a
// simulated resource that compares versions, spoilt or not; a sixth have an outcome that nobody knows.
func drawUpdates(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("lock L tokens=none owner-checked release-held\nresource x\n")
	clients := 2 + r.IntN(3)
	for c := range clients {
		fmt.Fprintf(&b, "c%d:A[0,1]\n", c)
	}
	b.WriteString("c0:W[2,3]on=x,v=1\n") // a base of 0 would be one that nobody told
	free := make([]int, clients)
	free[0] = 3
	at, version, next := 4, 1, 1
	bases := []int{1}
	for range 1 + r.IntN(8) {
		c := r.IntN(clients)
		at = max(at+1+r.IntN(3), free[c]+2)
		call := at - r.IntN(at-max(4, free[c]+1)+1)
		ret := at + r.IntN(6)
		free[c] = ret
		next++
		base := version
		if r.IntN(8) == 0 {
			base = bases[r.IntN(len(bases))]
		}
		if r.IntN(6) > 0 {
			version = next
			fmt.Fprintf(&b, "c%d:W[%d,%d]on=x,v=%d,base=%d\n", c, call, ret, next, base)
		} else {
			if r.IntN(2) == 0 {
				version = next
			}
			fmt.Fprintf(&b, "c%d:W[%d,?%d]on=x,v=%d,base=%d\n", c, call, ret, next, base)
		}
		bases = append(bases, next)
	}
	return b.String()
}

// swap is one update, as Porcupine's model of a resource that compares versions takes it.
type swap struct {
	base, value int64
	unknown     bool
}

// updates is that model: an update finds its base. One of unknown outcome may have had no effect.
var updates = porcupine.NondeterministicModel{
	Init: func() []any { return []any{int64(0)} },
	Step: func(state, input, _ any) []any {
		u := input.(swap)
		var out []any
		if u.base == 0 || state.(int64) == u.base {
			out = append(out, u.value)
		}
		if u.unknown {
			out = append(out, state)
		}
		return out
	},
}

// decideUpdates asks Porcupine.
func decideUpdates(h *history.History) bool {
	calls := map[string]history.Op{}
	var ops []porcupine.Operation
	add := func(call, end history.Op, unknown bool) {
		ret := int64(end.Time)
		if unknown {
			ret = 1 << 60
		}
		ops = append(ops, porcupine.Operation{ClientId: len(ops), Input: swap{call.Base, call.Value, unknown}, Call: int64(call.Time), Return: ret})
	}
	for _, op := range h.Ops {
		if op.F != history.Write {
			continue
		}
		key := fmt.Sprint(op.Client, op.Process)
		if op.Type == history.Invoke {
			calls[key] = op
		} else {
			add(calls[key], op, op.Type == history.Info)
		}
	}
	return porcupine.CheckOperations(updates.ToModel(), ops)
}

// Updates that were computed from versions, against Porcupine: no false alarm, and every history that no order explains is
// found.
func TestUpdatesAgainstPorcupine(t *testing.T) {
	n, seed := fuzzCount(t)
	legal, illegal, missed := 0, 0, 0
	for i := range n {
		text := drawUpdates(rand.New(rand.NewPCG(seed, uint64(i))))
		h, err := history.ParseTextString(text)
		if err != nil {
			t.Fatalf("seed %d/%d: %v\n%s", seed, i, err, text)
		}
		v, err := newView(h)
		if err != nil {
			t.Fatal(err)
		}
		r := judgeResources(t.Context(), v)
		want := decideUpdates(h)
		switch {
		case want && r.Verdict == Violated:
			t.Fatalf("seed %d/%d: a false alarm: %s\n%s", seed, i, r.Findings[0].Message, text)
		case want:
			legal++
		case r.Verdict != Violated:
			illegal++
			missed++
			if missed < 4 {
				t.Errorf("missed, seed %d/%d:\n%s", seed, i, text)
			}
		default:
			illegal++
		}
	}
	t.Logf("%d legal, %d illegal, %d of them missed", legal, illegal, missed)
	if legal < n/20 || illegal < n/20 {
		t.Error("too few of one kind")
	}
}
