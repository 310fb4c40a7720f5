package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
)

// newOperations takes the operations of a history, all of them or, above the most that are asked for, those that matter most.
func newOperations(h *history.History, results []checker.Result, groups []Group, options HTMLOptions) *operations {
	cited := map[int]bool{}
	for _, r := range results {
		for _, f := range r.Findings {
			for _, i := range f.Ops {
				cited[i] = true
			}
		}
	}
	o := &operations{h: h, redact: options.Redact, rows: rowsOf(h, cited)}
	o.whole = len(o.rows)
	if o.whole > options.Max {
		o.choose(h, groups, options.Max)
	}
	return o
}

// rowsOf joins each call with its end, in the order of the calls, and marks stale writes.
func rowsOf(h *history.History, cited map[int]bool) []row {
	type key struct {
		client          string
		thread, process int
	}
	open := map[key]int{}
	highest := map[string]uint64{}
	var out []row
	for n := range h.Ops {
		op := &h.Ops[n]
		k := key{op.Client, op.Thread, op.Process}
		at, ok := open[k]
		switch {
		case op.Type == history.Invoke:
			open[k] = len(out)
			out = append(out, row{call: op, cited: cited[n]})
		case op.Completes() && ok:
			delete(open, k)
			r := &out[at]
			r.end, r.cited = op, r.cited || cited[n]
			if op.Type == history.OK && (op.F == history.Write || op.F == history.Read) {
				full := r.filled()
				r.stale = op.F == history.Write && full.Token != 0 && full.Token < highest[full.Resource]
				highest[full.Resource] = max(highest[full.Resource], full.Token)
			}
		default:
			out = append(out, row{call: op, cited: cited[n]})
		}
	}
	return out
}

// Why a row is kept, the best reason first.
const (
	keptAlways    = iota // a finding rests on it, or it is no operation of a client
	keptViolation        // near a violation
	keptFault            // near the begin or the end of a fault
	keptUnknown          // without a definite answer
	keptEarly            // for the picture of the whole: from the start on
)

// choose keeps the rows that matter most, and says how many there are.
func (o *operations) choose(h *history.History, groups []Group, most int) {
	near := 5 * time.Second
	for _, l := range h.Header.Locks {
		near = max(near, 5*l.Contract.TTL)
	}
	violations, edges := moments(h, groups, near)
	classes := make([]uint8, len(o.rows))
	counts := [keptEarly + 1]int{}
	for i := range o.rows {
		classes[i] = o.rows[i].class(violations, edges)
		counts[classes[i]]++
	}
	room := [keptEarly + 1]int{keptAlways: counts[keptAlways]} // whatever the most is
	free := max(most-counts[keptAlways], 0)
	for c := keptViolation; c <= keptEarly; c++ {
		room[c] = min(counts[c], free)
		free -= room[c]
	}
	given := room
	kept := make([]row, 0, most)
	until := time.Duration(0)
	for i, r := range o.rows {
		if c := classes[i]; room[c] > 0 {
			room[c]--
			kept = append(kept, r)
			if c == keptEarly {
				until = r.call.Time
			}
		}
	}
	o.rows = kept
	o.left = fmt.Sprintf("%s of %s operations and events are in this page: %s. The history has all of them.", grouped(len(kept)), grouped(o.whole), taken(counts, given, until))
}

// taken says what a page has of each class, of which there are so many and so many were taken.
func taken(counts, given [keptEarly + 1]int, until time.Duration) string {
	parts := []string{"what violations rest on and events that no client asked for"}
	for n, what := range []string{"what was near violations", "what was near faults", "what was left without an answer"} {
		switch c := keptViolation + n; given[c] {
		case 0:
		case counts[c]:
			parts = append(parts, what)
		default:
			parts = append(parts, "some of "+what)
		}
	}
	if given[keptEarly] > 0 {
		parts = append(parts, "of the rest what began until "+at(until)+" s")
	}
	return strings.Join(parts, "; ")
}

func (r *row) class(violations, edges []span) uint8 {
	switch {
	case r.cited || r.stale || r.call.Type != history.Invoke:
		return keptAlways
	case inside(violations, r.call.Time):
		return keptViolation
	case inside(edges, r.call.Time):
		return keptFault
	case r.end == nil || r.end.Type == history.Info:
		return keptUnknown
	}
	return keptEarly
}

// moments are the times around violations, and around the begins and ends of faults, each list joined and in order.
func moments(h *history.History, groups []Group, near time.Duration) (violations, edges []span) {
	for _, g := range groups {
		for _, i := range g.Incidents {
			for _, f := range i.Findings {
				violations = append(violations, span{f.At - near, max(f.At, f.Until) + near})
			}
		}
	}
	for _, f := range injected(h) {
		edges = append(edges, span{f.from - near, f.from + near})
		if f.to != never {
			edges = append(edges, span{f.to - near, f.to + near})
		}
	}
	return joinedSpans(violations), joinedSpans(edges)
}

func joinedSpans(list []span) []span {
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out []span
	for _, s := range list {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

func inside(sorted []span, t time.Duration) bool {
	i, _ := slices.BinarySearchFunc(sorted, t, func(s span, t time.Duration) int { return cmp.Compare(s.to, t) })
	return i < len(sorted) && sorted[i].from <= t
}

// htmlFacts are what the page's script knows beside the operations. Times are µs of the run.
type htmlFacts struct {
	End        int64           `json:"end"`
	Clients    []string        `json:"clients"`
	Nodes      []string        `json:"nodes"`
	Locks      []string        `json:"locks"`
	Resources  []string        `json:"resources"`
	Faults     []factFault     `json:"faults"`
	Violations []factViolation `json:"violations"`
}

type factFault struct {
	Number  int      `json:"number"`
	Kind    string   `json:"kind"`
	Text    string   `json:"text"`
	Targets []string `json:"targets"`
	From    int64    `json:"from"`
	To      int64    `json:"to"`
}

type factViolation struct {
	Story int    `json:"story"` // 0: it is not told
	Text  string `json:"text"`
	At    int64  `json:"at"`
	Until int64  `json:"until"`
}

// maxFacts bounds how many faults and violations the script knows.
const maxFacts = 5000

func newHTMLFacts(o *operations, s *screen) htmlFacts {
	h := s.o.History
	f := htmlFacts{Clients: cleaned(h.Header.Clients), Nodes: cleaned(h.Header.Nodes), Locks: []string{}, Resources: []string{}, Faults: []factFault{}, Violations: []factViolation{}}
	if n := len(h.Ops); n > 0 {
		f.End = h.Ops[n-1].Time.Microseconds()
	}
	for _, l := range h.Header.Locks {
		f.Locks = append(f.Locks, clean(l.Name))
	}
	for _, r := range h.Header.Resources {
		f.Resources = append(f.Resources, clean(r.Name))
	}
	for n, x := range injected(h) {
		if n < maxFacts {
			f.Faults = append(f.Faults, factFault{x.number, clean(x.kind), x.text, cleaned(x.targets), x.from.Microseconds(), min(x.to.Microseconds(), f.End)})
		}
	}
	for n, g := range s.ordered() {
		for _, i := range g.Incidents {
			if len(f.Violations) == maxFacts {
				return f
			}
			v := factViolation{Text: clean(i.Findings[0].Message), At: i.start().Microseconds()}
			if n < maxHTMLStories {
				v.Story = n + 1
			}
			for _, x := range i.Findings {
				v.Until = max(v.Until, x.At.Microseconds(), x.Until.Microseconds())
			}
			f.Violations = append(f.Violations, v)
		}
	}
	slices.SortStableFunc(f.Violations, func(a, b factViolation) int { return cmp.Compare(a.At, b.At) })
	return f
}
