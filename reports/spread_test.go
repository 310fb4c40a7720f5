package reports

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/history"
)

// The parts of the scale hold each time once, at both of its ends too.
func TestSpread(t *testing.T) {
	bounds := spreadBounds()
	times := []time.Duration{0, 999, time.Microsecond, 2*time.Millisecond - 1, 2 * time.Millisecond, 5 * time.Millisecond, 99 * time.Second, 100 * time.Second, time.Hour}
	counts := spread(times, bounds)
	if total(counts) != len(times) || counts[0] != 2 || counts[len(bounds)] != 2 {
		t.Errorf("%v", counts)
	}
	for i, n := range counts {
		for _, d := range times {
			if in := (i == 0 || d >= bounds[i-1]) && (i == len(bounds) || d < bounds[i]); in {
				n--
			}
		}
		if n != 0 {
			t.Errorf("part %s has %d too many", spreadPart(bounds, i), n)
		}
	}
}

// The page shows how acquisition, wait, hold and handover are spread, in calm time beside faults, as pictures that say in words what
// they show, and as numbers.
func TestPageHasDistributions(t *testing.T) {
	b := newBook(history.PerGrant, history.ChecksToken)
	at := 1000
	for g := 1; g <= 40; g++ {
		long := 1
		if g > 20 {
			long = 60
		}
		b.acquire("c1", 2*g-1, at, at+long, uint64(2*g-1))
		b.acquire("c2", 2*g, at+long+1, at+2*long+12, uint64(2*g))
		b.release("c1", 2*g-1, at+long+10, at+long+11, history.OK, "")
		b.release("c2", 2*g, at+2*long+20, at+2*long+21, history.OK, "")
		at += 2*long + 30
		if g == 20 {
			b.fault(1, "pause", "pause c3", at, at+3000, "c3")
		}
	}
	b.finish()
	page := written(t, HTML(HTMLOptions{}), b.outcome(nil))
	svgs := regexp.MustCompile(`(?s)<svg class="spread".*?</svg>`).FindAllString(page, -1)
	if len(svgs) != 4 {
		t.Fatalf("%d distributions", len(svgs))
	}
	for i, name := range []string{"acquisition", "wait", "hold", "handover"} {
		if !strings.Contains(svgs[i], `role="img" aria-label="Distribution of `+name+`. calm: `) || !strings.Contains(svgs[i], "; faults: ") || !strings.Contains(svgs[i], `class="calm"`) || strings.Count(svgs[i], `class="faulty"`) < 2 {
			t.Errorf("%s: %s", name, svgs[i])
		}
		if len(svgs[i]) > 16<<10 {
			t.Errorf("%s takes %d bytes", name, len(svgs[i]))
		}
		if !strings.Contains(page, `<tr><th scope="col">`+name+`</th><th scope="col">calm</th><th scope="col">faults</th></tr>`) {
			t.Errorf("%s has no table", name)
		}
	}
}

// A page of 100,000 operations stays below 2 MB, with its distributions.
func TestPageOfManyOperationsIsSmall(t *testing.T) {
	page := written(t, HTML(HTMLOptions{Max: 200_000}), synthetic(100_000))
	if n := strings.Count(page, `<svg class="spread"`); len(page) > 2<<20 || n == 0 {
		t.Errorf("%d bytes, %d distributions", len(page), n)
	}
	t.Logf("%.2f MB", float64(len(page))/(1<<20))
}
