package reports

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

// htmlSpread is how the times of one kind are spread: a histogram on a logarithmic scale, calm time and faults beside each other,
// and the same as numbers.
type htmlSpread struct {
	Name    string
	Picture template.HTML
	Rows    []htmlRow // of the scale: how many in calm time, how many around faults
}

// Places of a histogram.
const (
	spreadWidth, spreadHeight = 470, 176
	spreadLeft, spreadRight   = 48, 460
	spreadTop, spreadBottom   = 40, 146
)

func htmlSpreads(h *history.History) []htmlSpread {
	calm, faults := runner.Measured(h)
	var out []htmlSpread
	for _, d := range []struct {
		name         string
		calm, faults []time.Duration
	}{
		{"acquisition", calm.Acquire, faults.Acquire}, {"wait", calm.Wait, faults.Wait}, {"hold", calm.Hold, faults.Hold}, {"handover", calm.Handover, faults.Handover},
	} {
		if len(d.calm)+len(d.faults) > 0 {
			out = append(out, newSpread(d.name, d.calm, d.faults))
		}
	}
	return out
}

// spreadBounds divide the times, from 1 µs on: 1, 2, 5, 10, …; shorter ones are in the first part, longer ones than 100 s in the last.
func spreadBounds() []time.Duration {
	var out []time.Duration
	for unit := time.Microsecond; unit < 100*time.Second; unit *= 10 {
		out = append(out, unit, 2*unit, 5*unit)
	}
	return append(out, 100*time.Second)
}

// spread counts the times of each part: part i is below bound i, and not below the one before.
func spread(times, bounds []time.Duration) []int {
	out := make([]int, len(bounds)+1)
	for _, d := range times {
		i, exact := slices.BinarySearch(bounds, d)
		if exact {
			i++
		}
		out[i]++
	}
	return out
}

func newSpread(name string, calm, faults []time.Duration) htmlSpread {
	bounds := spreadBounds()
	a, b := spread(calm, bounds), spread(faults, bounds)
	first, last := len(bounds), 0
	for i := range a {
		if a[i]+b[i] > 0 {
			first, last = min(first, i), i
		}
	}
	out := htmlSpread{Name: name, Picture: drawSpread(name, bounds, a[first:last+1], b[first:last+1], first, describeSpread("calm", calm)+"; "+describeSpread("faults", faults))}
	for i := first; i <= last; i++ {
		out.Rows = append(out.Rows, htmlRow{Name: spreadPart(bounds, i), Cells: []string{grouped(a[i]), grouped(b[i])}})
	}
	return out
}

func spreadPart(bounds []time.Duration, i int) string {
	switch i {
	case 0:
		return "below " + scaleMark(bounds[0])
	case len(bounds):
		return scaleMark(bounds[i-1]) + " and more"
	}
	return scaleMark(bounds[i-1]) + " to " + scaleMark(bounds[i])
}

// describeSpread is the picture in words.
func describeSpread(part string, times []time.Duration) string {
	if len(times) == 0 {
		return part + ": none"
	}
	sorted := slices.Sorted(slices.Values(times))
	at := func(q float64) string { return short(sorted[int(math.Ceil(q*float64(len(sorted))))-1]) }
	return fmt.Sprintf("%s: %s, half of them up to %s, 95 %% up to %s, the longest %s", part, grouped(len(sorted)), at(.5), at(.95), short(sorted[len(sorted)-1]))
}

// drawSpread draws shares, since the two parts of a run are of different lengths.
func drawSpread(name string, bounds []time.Duration, calm, faults []int, first int, words string) template.HTML {
	s := &svg{}
	s.add(`<svg class="spread" viewBox="0 0 %d %d" role="img" aria-label="%s">`, spreadWidth, spreadHeight, template.HTMLEscapeString("Distribution of "+name+". "+words+"."))
	s.text(spreadLeft, 14, "lane", "start", name)
	s.rect(spreadRight-150, 6, 12, 9, "calm")
	s.text(spreadRight-134, 14, "tick", "start", fmt.Sprintf("calm %s", grouped(total(calm))))
	s.rect(spreadRight-70, 6, 12, 9, "faulty")
	s.text(spreadRight-54, 14, "tick", "start", fmt.Sprintf("faults %s", grouped(total(faults))))
	most := 0.0
	share := func(counts []int, i int) float64 { return float64(counts[i]) / float64(max(total(counts), 1)) }
	for i := range calm {
		most = max(most, share(calm, i), share(faults, i))
	}
	wide := float64(spreadRight-spreadLeft) / float64(len(calm))
	for i := range calm {
		left := spreadLeft + float64(i)*wide
		for n, part := range [][]int{calm, faults} {
			if part[i] > 0 {
				high := max(share(part, i)/most*(spreadBottom-spreadTop), 1.5) // a single one is seen too
				s.rect(left+wide*(.08+.42*float64(n)), spreadBottom-high, wide*.42, high, []string{"calm", "faulty"}[n])
			}
		}
		if mark := first + i - 1; mark >= 0 && (mark%3 == 0 || len(calm) <= 10) {
			s.text(left, spreadBottom+16, "tick", "middle", scaleMark(bounds[mark]))
			s.line(left, spreadBottom, left, spreadBottom+4, "grid")
		}
	}
	s.line(spreadLeft, spreadBottom, spreadRight, spreadBottom, "base")
	s.line(spreadLeft, spreadTop, spreadRight, spreadTop, "grid")
	s.text(spreadLeft-6, spreadTop+4, "tick", "end", percent(most))
	s.text(spreadLeft-6, spreadBottom+4, "tick", "end", "0 %")
	s.WriteString("</svg>")
	return template.HTML(s.String())
}

func total(counts []int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}
