package compare

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/locktest/locktest/checker"
)

// Matrix is all cells, by lock and by scenario.
type Matrix struct {
	Locks     []string
	Scenarios []string
	cells     map[[2]string][]Cell
}

// New puts cells in order: locks by name, scenarios as they come first.
func New(cells []Cell) *Matrix {
	m := &Matrix{cells: map[[2]string][]Cell{}}
	for _, c := range cells {
		if !slices.Contains(m.Locks, c.Lock) {
			m.Locks = append(m.Locks, c.Lock)
		}
		if !slices.Contains(m.Scenarios, c.Scenario) {
			m.Scenarios = append(m.Scenarios, c.Scenario)
		}
		key := [2]string{c.Lock, c.Scenario}
		m.cells[key] = append(m.cells[key], c)
	}
	slices.Sort(m.Locks)
	return m
}

// Cells returns the runs of a lock under a scenario, in their order.
func (m *Matrix) Cells(lock, scenario string) []Cell {
	cells := m.cells[[2]string{lock, scenario}]
	slices.SortStableFunc(cells, func(a, b Cell) int { return cmp.Compare(a.Run, b.Run) })
	return cells
}

// Worst is the run that shows the most: the one to look at first.
func (m *Matrix) Worst(lock, scenario string) (Cell, bool) {
	cells := m.Cells(lock, scenario)
	if len(cells) == 0 {
		return Cell{}, false
	}
	return slices.MinFunc(cells, func(a, b Cell) int { return cmp.Compare(rank(a.Word), rank(b.Word)) }), true
}

// Text is what stands in a cell: "held 3/3", "violated 1/3 (stale-holder)", "n/a".
func (m *Matrix) Text(lock, scenario string) string {
	worst, ok := m.Worst(lock, scenario)
	if !ok {
		return "not run"
	}
	if worst.Word == NotApplicable {
		return string(NotApplicable)
	}
	cells := m.Cells(lock, scenario)
	n := 0
	for _, c := range cells {
		if c.Word == worst.Word {
			n++
		}
	}
	word := string(worst.Word)
	if worst.Word == Held && worst.Checked && worst.Tokens {
		word = "held with token check"
	}
	text := fmt.Sprintf("%s %d/%d", word, n, len(cells))
	if kinds := m.kinds(lock, scenario); len(kinds) > 0 && worst.Word != Unavailable {
		text += " (" + strings.Join(kinds, ", ") + ")"
	}
	return text
}

// kinds are all that was violated in the runs of a cell.
func (m *Matrix) kinds(lock, scenario string) []string {
	var out []string
	for _, c := range m.Cells(lock, scenario) {
		for _, v := range c.Violated {
			_, kind, _ := strings.Cut(v, "/")
			if !slices.Contains(out, kind) {
				out = append(out, kind)
			}
		}
	}
	return out
}

// Guarantee is what a lock kept, computed from its cells, in a sentence.
func (m *Matrix) Guarantee(lock string) string {
	var broke, stale, late, down, kept []string
	for _, s := range m.Scenarios {
		c, ok := m.Worst(lock, s)
		switch {
		case !ok || c.Word == NotApplicable || c.Word == Inconclusive:
		case c.Word == Violated && c.Hazard():
			stale = append(stale, s)
		case c.Word == Violated:
			broke = append(broke, s)
		case c.Word == Unavailable:
			down = append(down, s)
		case slices.Contains(m.kinds(lock, s), checker.StaleHolder):
			late = append(late, s)
		default:
			kept = append(kept, s)
		}
	}
	var parts []string
	if len(broke) > 0 {
		parts = append(parts, "it broke its promise under "+strings.Join(broke, ", "))
	}
	if len(stale) > 0 {
		parts = append(parts, "a holder outlasted its lease under "+strings.Join(stale, ", ")+", as every lease allows, and did harm to a resource that didn't look at its token")
	}
	if len(late) > 0 {
		parts = append(parts, "a holder outlasted its lease under "+strings.Join(late, ", ")+" and did no harm")
	}
	if len(down) > 0 {
		parts = append(parts, "it was not to be had again in time under "+strings.Join(down, ", "))
	}
	if len(kept) > 0 {
		parts = append(parts, fmt.Sprintf("it kept everything under %s", strings.Join(kept, ", ")))
	}
	if len(parts) == 0 {
		return "nothing is known of it."
	}
	text := strings.Join(parts, "; ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// Evidence is what was measured of a lock, in lines: what it kept, and on how many runs that rests. None: it wasn't run.
func (m *Matrix) Evidence(lock string) []string {
	var dates []string
	runs, under := 0, 0
	for _, s := range m.Scenarios {
		before := runs
		for _, c := range m.Cells(lock, s) {
			if c.Word != NotApplicable {
				runs, dates = runs+1, add(dates, c.Date)
			}
		}
		if runs > before {
			under++
		}
	}
	if runs == 0 {
		return nil
	}
	slices.Sort(dates)
	return []string{m.Guarantee(lock), fmt.Sprintf("That rests on %d runs under %d scenarios, the last of %s.", runs, under, dates[len(dates)-1])}
}

// Cost is what a lock costs in calm time: the medians over its runs of a scenario.
func (m *Matrix) Cost(lock, scenario string) (p50, p99 time.Duration, throughput float64, ok bool) {
	var a, b []time.Duration
	var t []float64
	for _, c := range m.Cells(lock, scenario) {
		if c.Word != NotApplicable && c.Grants > 0 {
			a, b, t = append(a, c.P50), append(b, c.P99), append(t, c.Throughput)
		}
	}
	if len(a) == 0 {
		return 0, 0, 0, false
	}
	return median(a), median(b), median(t), true
}

func median[T cmp.Ordered](xs []T) T {
	slices.Sort(xs)
	return xs[len(xs)/2]
}

// ReadCells reads one cell a line. A line that is none is an error with its number.
func ReadCells(r io.Reader) ([]Cell, error) {
	var out []Cell
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<22)
	for n := 1; sc.Scan(); n++ {
		var c Cell
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil || c.Schema != Schema {
			return nil, fmt.Errorf("line %d is no cell of %s: %v", n, Schema, err)
		}
		out = append(out, c)
	}
	return out, sc.Err()
}

// Document is the matrix as data.
type Document struct {
	Schema string              `json:"schema"`
	Cells  []Cell              `json:"cells"`
	Keeps  map[string]string   `json:"keeps"`  // by lock: Guarantee
	Matrix map[string][]string `json:"matrix"` // by lock: Text of each scenario, in the order of Scenarios
	Order  []string            `json:"scenarios"`
}

// Document returns the matrix as data, with all cells.
func (m *Matrix) Document() Document {
	d := Document{Schema: "locktest.matrix/1", Keeps: map[string]string{}, Matrix: map[string][]string{}, Order: m.Scenarios}
	for _, l := range m.Locks {
		d.Keeps[l] = m.Guarantee(l)
		for _, s := range m.Scenarios {
			d.Cells = append(d.Cells, m.Cells(l, s)...)
			d.Matrix[l] = append(d.Matrix[l], m.Text(l, s))
		}
	}
	return d
}
