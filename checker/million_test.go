package checker

import "testing"

func BenchmarkSweepMillion(b *testing.B) {
	x := big{model: "mutex", ops: 200_000, clients: 100, unknown: 0.05}
	h := x.history(x.make())
	b.ReportAllocs()
	for b.Loop() {
		v, err := newView(h)
		if err != nil {
			b.Fatal(err)
		}
		for i := range v.locks {
			n := v.locks[i].holds()
			if len(n.breaches) > 0 || v.sweepFinds(&v.locks[i], n) {
				b.Fatal("illegal")
			}
		}
	}
}
