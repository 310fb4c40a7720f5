package checker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// engine is the general engine's verdict on the raw history.
func (d *dice) engine(t *testing.T, ops []small, plain bool) bool {
	v, err := newView(d.history(ops))
	if err != nil {
		t.Fatal(err)
	}
	if len(v.locks) == 0 {
		return true
	}
	r := decideDeeds(context.Background(), v.deedsOf(&v.locks[0]), &v.locks[0].contract, budget{configs: 1 << 20, forget: 1 + len(ops)%3, plain: plain})
	if r.gaveUp != "" {
		t.Fatalf("gave up: %s\n%s", r.gaveUp, spell(ops))
	}
	return r.legal
}

// TestEngineAgainstPorcupine draws histories and compares the general engine's verdict, on all of them.
func TestEngineAgainstPorcupine(t *testing.T) {
	n, seed := fuzzCount(t)
	for name, d := range campaigns() {
		t.Run(name, func(t *testing.T) {
			illegal := 0
			for i := range n {
				ops := d.draw(rand.New(rand.NewPCG(seed, uint64(i))))
				legal := d.legalByPorcupine(ops)
				if got := d.engine(t, ops, i%4 == 0); got != legal {
					t.Fatalf("%s: Porcupine says legal=%v, the engine %v:\n%s", fmt.Sprintf("seed %d/%d", seed, i), legal, got, spell(ops))
				}
				illegal += bit(!legal)
			}
			if illegal < n/10 || illegal > n-n/10 {
				t.Errorf("%d of %d histories were illegal: too few of one kind", illegal, n)
			}
		})
	}
}
