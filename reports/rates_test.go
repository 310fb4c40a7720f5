package reports

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/runner"
)

// The ends are those that the textbooks' formulas give, to a tenth of a percent.
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
		name      string
	}{
		{3, 20, 5.2, 36.0, intervalWilson},
		{1, 10, 1.8, 40.4, intervalWilson},
		{20, 20, 83.9, 100, intervalWilson},
		{50, 100, 40.4, 59.6, intervalWilson},
		{0, 20, 0, 13.9, intervalExact},
		{0, 1, 0, 95, intervalExact},
		{0, 300, 0, 1.0, intervalExact},
	} {
		low, high, name := interval(c.k, c.n)
		if math.Abs(100*low-c.low) > .051 || math.Abs(100*high-c.high) > .051 || name != c.name {
			t.Errorf("%d of %d: %.3f to %.3f, %s", c.k, c.n, 100*low, 100*high, name)
		}
	}
}

// In many draws the interval holds the true rate about as often as it says.
func TestIntervalCovers(t *testing.T) {
	const n, p = 20, .3
	inside := 0.0
	for k := range n + 1 {
		probability := math.Exp(lchoose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log(1-p))
		if low, high, _ := interval(k, n); low <= p && p <= high {
			inside += probability
		}
	}
	if inside < .93 || inside > .99 {
		t.Errorf("it holds the true rate in %.3f of all draws", inside)
	}
}

func lchoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

func TestRates(t *testing.T) {
	b := &Batch{}
	for range 2 {
		b.Outcomes = append(b.Outcomes, staleWrite(nil))
	}
	for range 6 {
		b.Outcomes = append(b.Outcomes, cleanRun())
	}
	b.Outcomes = append(b.Outcomes, inconclusive(), inconclusive())
	series := b.Series()
	if len(series) != 1 {
		t.Fatalf("%d series", len(series))
	}
	got := map[string][3]int{}
	for _, r := range series[0].Rates() {
		got[r.Property] = [3]int{r.Violated, r.Decided, r.Runs}
	}
	want := map[string][3]int{
		checker.MutualExclusion: {2, 8, 10}, checker.ResourceSafety: {2, 8, 10}, checker.Fencing: {0, 8, 10}, checker.Ownership: {0, 8, 10}, checker.Liveness: {0, 8, 10},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var w strings.Builder
	if err := WriteRates(&w, &series[0], Style{}); err != nil {
		t.Fatal(err)
	}
	const text = "  mutual exclusion  violated in 2 of 8 runs (2 more didn't decide): 25.0 %, 95 %\n                    Wilson interval 7.1 to 59.1 %\n"
	if !strings.HasPrefix(w.String(), text) || strings.Contains(w.String(), "fencing") {
		t.Error(w.String())
	}
	clean := (&Batch{Outcomes: []*runner.Outcome{cleanRun()}}).Series()[0]
	w.Reset()
	if err := WriteRates(&w, &clean, Style{Width: 100}); err != nil || !strings.Contains(w.String(), "violated in 0 of 1 run: the rate is below 95.0 % with 95 % confidence") {
		t.Errorf("%v: %s", err, w.String())
	}
}
