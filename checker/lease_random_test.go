package checker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/history"
)

// drawLease writes a random history of leases in the text form, each client with one grant: an acquire, extends,
// perhaps a loss or a kill, releases.
func drawLease(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("lock L expiry=lease ttl=20 tokens=none owner-checked release-held validity\n")
	for c := range 2 + r.IntN(3) {
		call := r.IntN(60)
		at := call + r.IntN(12)
		valid := call + 10 + r.IntN(15)
		fmt.Fprintf(&b, "c%d:A[%d,%d]valid=%d ", c, call, at, valid)
		for range r.IntN(3) {
			from := at + 1 + r.IntN(10)
			at = from + r.IntN(5)
			switch r.IntN(4) {
			case 0:
				fmt.Fprintf(&b, "c%d:X[%d,%d] ", c, from, at)
			case 1:
				fmt.Fprintf(&b, "c%d:E[%d,?%d] ", c, from, at)
			default:
				fmt.Fprintf(&b, "c%d:E[%d,%d]valid=%d ", c, from, at, from+10+r.IntN(15))
			}
		}
		from := at + 1 + r.IntN(10)
		switch r.IntN(6) {
		case 0:
			fmt.Fprintf(&b, "c%d:lost[%d] ", c, from)
		case 1:
			fmt.Fprintf(&b, "c%d:crash[%d] ", c, from)
		case 2:
			fmt.Fprintf(&b, "c%d:R[%d,?%d] c%d:R[%d,%d] ", c, from, from+1, c, from+2, from+3)
		case 3:
			fmt.Fprintf(&b, "c%d:R[%d,%d] ", c, from, from+2)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// moments says, grant by grant, at which half milliseconds it was in force: straight from the prose, point by point.
func moments(h *history.History) map[int][]bool {
	const last = 400
	out := map[int][]bool{}
	call := map[string]history.Op{}
	stop, coreStop := map[int]time.Duration{}, map[int]time.Duration{}
	earlier := func(m map[int]time.Duration, g int, at time.Duration) {
		if x, ok := m[g]; !ok || at < x {
			m[g] = at
		}
	}
	firstRelease, provedRelease := map[int]time.Duration{}, map[int]time.Duration{}
	grantOf := map[string]int{}
	for pass := range 2 {
		for _, e := range h.Ops {
			if e.Type == history.Invoke {
				call[e.Client] = e
			}
			g, c := e.Grant, call[e.Client]
			switch {
			case pass == 0 && e.Type == history.Invoke && e.F == history.Acquire:
				grantOf[e.Client] = g
			case pass == 0 && e.Type == history.Invoke && e.F == history.Release:
				earlier(firstRelease, g, e.Time)
				earlier(stop, g, e.Time)
			case pass == 0 && e.Type == history.OK && e.F == history.Release:
				earlier(provedRelease, g, c.Time)
			case pass == 0 && e.Type == history.Lost:
				earlier(stop, g, e.Time)
				earlier(coreStop, g, e.Time)
			case pass == 0 && e.Type == history.Crash:
				earlier(stop, grantOf[e.Client], e.Time)
			case pass == 0 && e.Outcome == history.NotHeld && e.F == history.Extend:
				earlier(stop, g, e.Time)
				earlier(coreStop, g, c.Time)
			case pass == 1 && e.Type == history.OK && (e.F == history.Acquire || e.F == history.Extend):
				if out[g] == nil {
					out[g] = make([]bool, last)
				}
				for k := range last {
					at := time.Duration(k)*time.Millisecond + time.Millisecond/2
					stopped, ended := false, false
					if x, ok := stop[g]; ok {
						stopped = at >= x
					}
					if x, ok := coreStop[g]; ok {
						ended = at >= x
					}
					freed, ok := provedRelease[g]
					if !ok {
						freed, ok = firstRelease[g]
					}
					ended = ended || ok && at >= freed
					believes := at < e.Valid && !stopped
					promised := at < c.Time+20*time.Millisecond && !ended
					if at > e.Time && (believes || promised) {
						out[g][k] = true
					}
				}
			}
		}
	}
	return out
}

func TestLeasesPointByPoint(t *testing.T) {
	n, seed := fuzzCount(t)
	overlaps := 0
	for i := range n / 5 {
		text := drawLease(rand.New(rand.NewPCG(seed, uint64(i))))
		h := parsed(t, text)
		want := false
		in := moments(h)
		for a := range in {
			for b := range in {
				for k := range in[a] {
					want = want || a < b && in[a][k] && in[b][k]
				}
			}
		}
		r := verdictOf(t, h, MutualExclusion)
		got := r.Kinds[DoubleGrant] == Violated
		if got != want {
			t.Fatalf("seed %d/%d: double grant reported=%v, point by point=%v\n%s\n%s", seed, i, got, want, text, told([]Result{r}))
		}
		as, err := CrossCheck(context.Background(), h, Limits{})
		if err != nil || len(as) != 1 || !as[0].Agrees {
			t.Fatalf("seed %d/%d: %+v %v\n%s", seed, i, as, err, text)
		}
		if want {
			overlaps++
		}
	}
	if overlaps < n/50 || overlaps > n/5-n/50 {
		t.Errorf("%d of %d histories with an overlap: too few of one kind", overlaps, n/5)
	}
}

// Where nobody says how long leases last, what answers prove is compared: Porcupine has to find the same.
func TestProvedLeasesAgainstPorcupine(t *testing.T) {
	n, seed := fuzzCount(t)
	valid := regexp.MustCompile(`valid=\d+`)
	illegal := 0
	for i := range n / 5 {
		text := strings.Replace(valid.ReplaceAllString(drawLease(rand.New(rand.NewPCG(seed, uint64(i)))), ""), "ttl=20 ", "", 1)
		text = strings.Replace(text, " validity", "", 1)
		as, err := CrossCheck(context.Background(), parsed(t, text), Limits{})
		if err != nil || len(as) != 1 || !as[0].Agrees {
			t.Fatalf("seed %d/%d: %+v %v\n%s", seed, i, as, err, text)
		}
		illegal += bit(as[0].Answer == "illegal")
	}
	if illegal < n/50 || illegal > n/5-n/50 {
		t.Errorf("%d of %d illegal: too few of one kind", illegal, n/5)
	}
}
