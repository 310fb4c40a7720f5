package reports

import (
	"fmt"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

// htmlContention is how clients got along: in calm time, while faults were in effect, and in all.
type htmlContention struct {
	Counts    []htmlRow // attempts and what became of them
	Durations []htmlRow // quantiles
	Spreads   []htmlSpread
	Clients   []htmlRow // grants of each client
	Evenness  string
	Slowest   []string
}

// htmlRow is a row of a table: its head and its cells.
type htmlRow struct {
	Name  string
	Cells []string
}

func newHTMLContention(o *runner.Outcome) htmlContention {
	c := htmlContention{}
	parts := []runner.Part{o.Metrics.Calm, o.Metrics.Faults, o.Metrics.All}
	counts := func(name string, cell func(runner.Part) string) {
		row := htmlRow{Name: name}
		for _, p := range parts {
			row.Cells = append(row.Cells, cell(p))
		}
		c.Counts = append(c.Counts, row)
	}
	counts("attempts", func(p runner.Part) string { return grouped(p.Attempts) })
	counts("granted", func(p runner.Part) string { return grouped(p.Granted) })
	counts("busy", func(p runner.Part) string { return grouped(p.Busy) })
	counts("no answer (time out)", func(p runner.Part) string { return grouped(p.Unknown) })
	counts("failed", func(p runner.Part) string { return grouped(p.Failed) })
	counts("availability", func(p runner.Part) string {
		if p.Attempts == 0 {
			return "–"
		}
		return percent(p.Availability)
	})
	counts("grants per second", func(p runner.Part) string { return fmt.Sprintf("%.3g", p.Throughput) })
	for _, d := range []struct {
		name string
		of   func(runner.Part) runner.Quantiles
	}{
		{"acquisition (a call that is granted)", func(p runner.Part) runner.Quantiles { return p.Acquire }},
		{"wait (first call to grant)", func(p runner.Part) runner.Quantiles { return p.Wait }},
		{"hold (grant to release)", func(p runner.Part) runner.Quantiles { return p.Hold }},
		{"handover (release to next grant)", func(p runner.Part) runner.Quantiles { return p.Handover }},
	} {
		for i, name := range []string{"calm", "faults", "all"} {
			c.Durations = append(c.Durations, quantileRow(d.name, name, d.of(parts[i])))
		}
	}
	c.Spreads = htmlSpreads(o.History)
	c.fairness(o.History)
	for _, r := range o.Results {
		c.slowest(r)
	}
	return c
}

func quantileRow(name, part string, q runner.Quantiles) htmlRow {
	row := htmlRow{Name: name, Cells: []string{part, grouped(q.N)}}
	for _, d := range []time.Duration{q.P50, q.P95, q.P99, q.Max} {
		text := "–"
		if q.N > 0 {
			text = short(d)
		}
		row.Cells = append(row.Cells, text)
	}
	return row
}

// slowest takes the longest times that checks measured.
func (c *htmlContention) slowest(r checker.Result) {
	for _, n := range []struct{ key, text string }{
		{"slowest_recovery_s", "slowest first grant after a fault"}, {"slowest_takeover_s", "slowest grant after a holder's death"},
		{"longest_idle_s", "longest time free and asked for"}, {"longest_wait_s", "longest wait of one client"},
	} {
		if s, ok := r.Numbers[n.key]; ok {
			c.Slowest = append(c.Slowest, n.text+": "+short(time.Duration(s*float64(time.Second))))
		}
	}
}

func (c *htmlContention) fairness(h *history.History) {
	grants := map[string]int{}
	for _, client := range h.Header.Clients {
		grants[client] = 0
	}
	all, squares := 0, 0.0
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Type == history.OK && op.F == history.Acquire {
			grants[op.Client]++
			all++
		}
	}
	for _, client := range sortedKeys(grants) {
		n := grants[client]
		squares += float64(n) * float64(n)
		share := "–"
		if all > 0 {
			share = percent(float64(n) / float64(all))
		}
		c.Clients = append(c.Clients, htmlRow{Name: clean(client), Cells: []string{grouped(n), share}})
	}
	if all > 0 && len(grants) > 1 {
		c.Evenness = fmt.Sprintf("Jain's index: %.3f (1: all the same; %.3f: one client had all).", float64(all)*float64(all)/(float64(len(grants))*squares), 1/float64(len(grants)))
	}
	if len(c.Clients) > 100 {
		c.Clients = append(c.Clients[:100], htmlRow{Name: count(len(grants)-100, "more client"), Cells: []string{"", ""}})
	}
}
