package checker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/locktest/locktest/history"
)

// drawResource writes a random history of a guarded resource in the text form: each client is granted once, then reads
// and writes. Half of them come from a simulated resource, spoilt or not.
func drawResource(r *rand.Rand, fenced, ordered bool) string {
	var b strings.Builder
	b.WriteString("lock L tokens=grant owner-checked release-held\nresource x")
	if fenced {
		b.WriteString(" check=checks-token")
	}
	if ordered {
		b.WriteString(" ordered")
	}
	b.WriteString("\n")
	clients := 2 + r.IntN(3)
	for c := range clients {
		fmt.Fprintf(&b, "c%d:A[0,1]tok=%d\n", c, c+1)
	}
	free := make([]int, clients) // when each client is free again
	at, version, mark, next := 3, 0, 0, 0
	written := []int{0}
	for range 1 + r.IntN(9) {
		c := r.IntN(clients)
		at += 1 + r.IntN(3)
		at = max(at, free[c]+2)
		call := at - r.IntN(at-max(2, free[c]))
		ret := at + r.IntN(6)
		free[c] = ret
		token := c + 1
		spoilt := r.IntN(8) == 0
		refused := fenced && token < mark && !spoilt
		switch {
		case r.IntN(2) == 0 && refused:
			fmt.Fprintf(&b, "c%d:K[%d,%d]on=x,tok=%d\n", c, call, ret, token)
		case r.IntN(2) == 0 && !refused:
			got := version
			if spoilt {
				got = written[r.IntN(len(written))]
			}
			mark = max(mark, token)
			fmt.Fprintf(&b, "c%d:D[%d,%d]on=x,tok=%d,v=%d\n", c, call, ret, token, got)
		default:
			next++
			written = append(written, next)
			switch {
			case refused:
				fmt.Fprintf(&b, "c%d:J[%d,%d]on=x,tok=%d,v=%d\n", c, call, ret, token, next)
			case r.IntN(5) == 0: // unknown, and perhaps it took effect
				if r.IntN(2) == 0 {
					version, mark = next, max(mark, token)
				}
				fmt.Fprintf(&b, "c%d:W[%d,?%d]on=x,tok=%d,v=%d\n", c, call, ret, token, next)
			default:
				version, mark = next, max(mark, token)
				fmt.Fprintf(&b, "c%d:W[%d,%d]on=x,tok=%d,v=%d\n", c, call, ret, token, next)
			}
		}
	}
	return b.String()
}

func TestResourcesAgainstPorcupine(t *testing.T) {
	n, seed := fuzzCount(t)
	for name, x := range map[string]struct{ fenced, ordered bool }{
		"register": {false, false}, "register in order": {false, true}, "fenced register": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			answers := map[string]int{}
			for i := range n / 2 {
				text := drawResource(rand.New(rand.NewPCG(seed, uint64(i))), x.fenced, x.ordered)
				h, err := history.ParseTextString(text)
				if err != nil {
					t.Fatalf("seed %d/%d: %v\n%s", seed, i, err, text)
				}
				as, err := CrossCheck(context.Background(), h, Limits{})
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range as {
					if a.Lock != "x" {
						continue
					}
					answers[a.Answer]++
					if !a.Agrees {
						t.Fatalf("seed %d/%d: %+v\n%s", seed, i, a, text)
					}
				}
			}
			t.Log(answers)
			if answers["legal"] < n/50 || answers["illegal"] < n/50 {
				t.Errorf("%v: too few of one kind", answers)
			}
		})
	}
}
