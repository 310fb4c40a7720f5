package reports

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

// roundStep is the smallest of 1, 2, 5, 10 … ns that is at least so long.
func roundStep(least float64) time.Duration {
	for scale := 1.0; ; scale *= 10 {
		for _, m := range []float64{1, 2, 5} {
			if m*scale >= least {
				return time.Duration(m * scale)
			}
		}
	}
}

// decimals is how many a number of seconds needs to tell marks apart that are step from each other.
func decimals(step time.Duration) int {
	return max(0, int(-math.Floor(math.Log10(step.Seconds())+1e-9)))
}

// plotBin is a part of the run: what became of the attempts that ended in it.
type plotBin struct {
	latencies     []time.Duration // of grants
	answered, all int
}

// Places of the two curves.
const (
	plotTop, plotBottom   = 30, 170
	shareTop, shareBottom = 196, 256
	plotHeight            = 276
)

// plot draws latency and availability over the whole run, faults as bands, without a script; empty of a history without
// attempts.
func plot(o *runner.Outcome) template.HTML {
	h := o.History
	if len(h.Ops) == 0 || o.Metrics.All.Attempts == 0 {
		return ""
	}
	p := &plotter{to: max(h.Ops[len(h.Ops)-1].Time, time.Millisecond)}
	p.collect(h, min(max(o.Metrics.All.Attempts/20, 40), 240))
	p.add(`<svg class="plot" viewBox="0 0 %d %d" role="img" aria-label="%s">`, diagramWidth, plotHeight, template.HTMLEscapeString(plotSummary(o)))
	for _, f := range injected(h) {
		from, to := p.x(f.from), p.x(min(f.to, p.to))
		p.rect(from, plotTop, to-from, shareBottom-plotTop, "band")
	}
	p.axes()
	p.quantile(.5, "p50")
	p.quantile(.99, "p99")
	p.shares()
	p.WriteString("</svg>")
	return template.HTML(p.String())
}

// plotSummary is the picture in a sentence, of what was there: all of a run may have been under a fault, and nothing granted.
func plotSummary(o *runner.Outcome) string {
	var parts []string
	for _, part := range []struct {
		when string
		runner.Part
	}{{"in calm time ", o.Metrics.Calm}, {"around faults ", o.Metrics.Faults}} {
		text := part.when
		if part.Acquire.N > 0 {
			text += "p99 was " + short(part.Acquire.P99) + " and "
		}
		text += "availability "
		if part.Acquire.N == 0 {
			text += "was "
		}
		if part.Attempts > 0 {
			parts = append(parts, text+percent(part.Availability))
		}
	}
	return "Acquire latency and availability over the run. " + sentence(capital(strings.Join(parts, "; ")))
}

type plotter struct {
	svg
	to        time.Duration
	bins      []plotBin
	low, high float64 // of log10 of seconds
}

func (p *plotter) x(t time.Duration) float64 {
	return diagramLeft + min(max(float64(t)/float64(p.to), 0), 1)*(diagramRight-diagramLeft)
}

func (p *plotter) collect(h *history.History, bins int) {
	p.bins = make([]plotBin, bins)
	low, high := never, time.Duration(0)
	for _, st := range pairs(h) {
		if st.call.F != history.Acquire {
			continue
		}
		op := st.op()
		b := &p.bins[min(int(float64(op.Time)/float64(p.to)*float64(bins)), bins-1)]
		b.all++
		if st.end != nil && (op.Type == history.OK || op.Outcome == history.Busy) {
			b.answered++
		}
		if op.Type == history.OK {
			took := max(op.Time-st.call.Time, time.Microsecond)
			b.latencies = append(b.latencies, took)
			low, high = min(low, took), max(high, took)
		}
	}
	if high == 0 {
		low, high = time.Millisecond, time.Second
	}
	p.low, p.high = math.Floor(math.Log10(low.Seconds())), math.Ceil(math.Log10(high.Seconds())+1e-9)
	p.high = max(p.high, p.low+1)
}

func (p *plotter) y(d time.Duration) float64 {
	return plotBottom - (math.Log10(d.Seconds())-p.low)/(p.high-p.low)*(plotBottom-plotTop)
}

func (p *plotter) axes() {
	step := roundStep(float64(p.to) / 9)
	for t := time.Duration(0); t <= p.to; t += step {
		p.line(p.x(t), plotTop, p.x(t), shareBottom, "grid")
		p.text(p.x(t), plotHeight-6, "tick", "middle", strconv.FormatFloat(t.Seconds(), 'f', decimals(step), 64)+" s")
	}
	for e := p.low; e <= p.high; e++ {
		d := time.Duration(math.Pow(10, e) * float64(time.Second))
		p.line(diagramLeft, p.y(max(d, 1)), diagramRight, p.y(max(d, 1)), "grid")
		p.text(diagramLeft-8, p.y(max(d, 1))+4, "tick", "end", scaleMark(d))
	}
	p.text(diagramLeft, plotTop-12, "lane", "start", "acquire latency: p50 solid, p99 dashed")
	p.text(diagramLeft, shareTop-6, "lane", "start", "availability: what is missing to 100 %")
	p.line(diagramLeft, shareTop, diagramRight, shareTop, "base")
	p.line(diagramLeft, shareBottom, diagramRight, shareBottom, "base")
	p.text(diagramLeft-8, shareTop+4, "tick", "end", "100 %")
	p.text(diagramLeft-8, shareBottom+4, "tick", "end", "0 %")
}

func scaleMark(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.0f ms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.0f µs", d.Seconds()*1e6)
}

func (p *plotter) middle(bin int) float64 {
	return diagramLeft + (float64(bin)+.5)/float64(len(p.bins))*(diagramRight-diagramLeft)
}

// quantile draws one: a line where bins lie beside each other, a point where one stands alone.
func (p *plotter) quantile(q float64, class string) {
	var run []string
	flush := func() {
		if len(run) > 1 {
			p.add(`<polyline class="%s" points="`, class)
			for _, at := range run {
				p.WriteString(at + " ")
			}
			p.WriteString(`"/>`)
		}
		run = nil
	}
	for i := range p.bins {
		l := p.bins[i].latencies
		if len(l) == 0 {
			flush()
			continue
		}
		slices.Sort(l)
		y := p.y(l[min(len(l)-1, int(math.Ceil(q*float64(len(l))))-1)])
		run = append(run, fmt.Sprintf("%.1f,%.1f", p.middle(i), y))
		p.add(`<circle cx="%.1f" cy="%.1f" r="1.6" class="%s-point"/>`, p.middle(i), y, class)
	}
	flush()
}

// shares hangs from the top what is missing to full availability.
func (p *plotter) shares() {
	wide := float64(diagramRight-diagramLeft) / float64(len(p.bins))
	for i, b := range p.bins {
		if missing := 1 - float64(b.answered)/float64(max(b.all, 1)); b.all > 0 && missing > 0 {
			p.rect(p.middle(i)-wide/2, shareTop, wide, missing*(shareBottom-shareTop), "missing")
		}
	}
}
