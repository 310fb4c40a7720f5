package compare

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

//go:embed page.html style.css
var assets embed.FS

// htmlView is what the page's template is given.
type htmlView struct {
	Page
	CSS       template.CSS
	StyleHash string
	About     string
	Locks     []htmlLock
	Rows      []htmlRow
	Plots     []htmlPlot
}

// htmlLock is a lock with what it kept and costs.
type htmlLock struct {
	Name, Keeps           string
	P50, P99              string
	Throughput            string
	Availability, Slowest string
}

// htmlRow is a scenario's cells, in the order of the locks.
type htmlRow struct {
	Scenario string
	Cells    []htmlCell
}

// htmlCell is a cell with each of its runs, the worst first.
type htmlCell struct {
	Class, Text string
	Runs        []htmlRun
}

type htmlRun struct {
	Run     int
	Seed    uint64
	Word    Word
	Why     string
	Figures string
	Report  string // path of its page, from the matrix's folder; empty: it isn't known
}

// WriteHTML writes the matrix as one page that asks for nothing from elsewhere and has no script: the table, with the runs of a
// cell behind it, what each lock kept, and what it costs as plots and as figures. dir is the folder in which the page will lie;
// the reports of runs are linked from there, and from nowhere if dir is empty.
func (m *Matrix) WriteHTML(w io.Writer, p Page, dir string) error {
	t, err := template.ParseFS(assets, "page.html")
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	style, err := assets.ReadFile("style.css")
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	sum := sha256.Sum256(style)
	v := htmlView{Page: p, CSS: template.CSS(style), StyleHash: "sha256-" + base64.StdEncoding.EncodeToString(sum[:]), About: m.about()}
	for _, l := range m.Locks {
		v.Locks = append(v.Locks, m.htmlLock(l))
	}
	for _, s := range m.Scenarios {
		row := htmlRow{Scenario: s}
		for _, l := range m.Locks {
			row.Cells = append(row.Cells, m.htmlCell(l, s, dir))
		}
		v.Rows = append(v.Rows, row)
	}
	v.Plots = m.plots()
	if err := t.Execute(w, v); err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	return nil
}

func (m *Matrix) htmlLock(l string) htmlLock {
	out := htmlLock{Name: l, Keeps: m.Guarantee(l), P50: "–", P99: "–", Throughput: "–", Availability: "–", Slowest: "–"}
	if p50, p99, n, ok := m.Cost(l, calmScenario); ok {
		out.P50, out.P99, out.Throughput = short(p50), short(p99), fmt.Sprintf("%.0f", n)
	}
	if lowest, slowest, ok := m.underFaults(l); ok {
		out.Availability = fmt.Sprintf("%.0f %%", 100*lowest)
		if slowest > 0 {
			out.Slowest = short(slowest)
		}
	}
	return out
}

// underFaults is the lowest share of attempts that were granted while faults were in effect, of all runs but those of calm
// time, and the slowest recovery of any of them (0: none was measured).
func (m *Matrix) underFaults(lock string) (lowest float64, slowest time.Duration, ok bool) {
	lowest = 1
	for _, s := range m.Scenarios {
		if s == calmScenario {
			continue
		}
		for _, c := range m.Cells(lock, s) {
			if c.Word != NotApplicable && c.Word != Inconclusive {
				lowest, slowest, ok = min(lowest, c.Availability), max(slowest, c.Recovery), true
			}
		}
	}
	return lowest, slowest, ok
}

func (m *Matrix) htmlCell(lock, scenario, dir string) htmlCell {
	out := htmlCell{Text: m.Text(lock, scenario), Class: "none"}
	worst, ok := m.Worst(lock, scenario)
	if !ok || worst.Word == NotApplicable {
		return out
	}
	out.Class = string(worst.Word)
	if worst.Word == Held && len(m.kinds(lock, scenario)) > 0 {
		out.Class = "late" // a holder outlasted its lease, without harm
	}
	cells := slices.Clone(m.Cells(lock, scenario))
	slices.SortStableFunc(cells, func(a, b Cell) int { return rank(a.Word) - rank(b.Word) })
	for _, c := range cells {
		r := htmlRun{Run: c.Run, Seed: c.Seed, Word: c.Word, Why: c.Why, Figures: figuresOf(&c)}
		if c.Dir != "" && dir != "" {
			r.Report = reportOf(c.Dir, dir)
		}
		out.Runs = append(out.Runs, r)
	}
	return out
}

// figuresOf is what was measured in one run.
func figuresOf(c *Cell) string {
	text := fmt.Sprintf("available %.0f %%", 100*c.Availability)
	if c.Recovery > 0 {
		text += ", slowest recovery " + short(c.Recovery)
	}
	if c.Grants > 0 {
		text += fmt.Sprintf(", acquire p50 %s, p99 %s", short(c.P50), short(c.P99))
	}
	return text
}

// reportOf is the way from dir to the page of the run in folder run; empty where there is none, such as on another machine.
func reportOf(run, dir string) string {
	page, err1 := filepath.Abs(filepath.Join(run, "report.html"))
	from, err2 := filepath.Abs(dir)
	rel, err3 := filepath.Rel(from, page)
	if _, err := os.Stat(page); errors.Join(err, err1, err2, err3) != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

// htmlPlot is a plot of points with names. Its x axis is logarithmic, in time.
type htmlPlot struct {
	Title, X, Y string
	Ticks       []htmlTick
	Levels      []htmlTick
	Points      []htmlPoint
}

type htmlTick struct {
	At   float64
	Text string
}

type htmlPoint struct {
	Name        string
	X, Y, TextY float64
	Left        bool // the name stands on the left of the point
}

// The plot's frame, in the units of its picture of 640 by 300.
const (
	plotLeft, plotRight = 60.0, 620.0
	plotTop, plotBottom = 16.0, 250.0
	plotLine            = 14.0 // from one name to the next
	plotNameLeftFrom    = 0.7  // of the width: names of what lies further right stand on the left
)

type measure struct {
	name string
	x    time.Duration
	y    float64
}

// plots are what locks cost against what they give, where something of it was measured.
func (m *Matrix) plots() []htmlPlot {
	var calm, faulty []measure
	for _, l := range m.Locks {
		if p50, _, n, ok := m.Cost(l, calmScenario); ok && p50 > 0 {
			calm = append(calm, measure{l, p50, n})
		}
		if lowest, slowest, ok := m.underFaults(l); ok && slowest > 0 {
			faulty = append(faulty, measure{l, slowest, 100 * lowest})
		}
	}
	var out []htmlPlot
	if len(calm) > 0 {
		out = append(out, plot("Acquiring in contention, without faults", "median time to acquire", "grants a second", calm, 0))
	}
	if len(faulty) > 0 {
		out = append(out, plot("Under faults, the worst run of each lock", "slowest recovery", "granted while a fault was in effect, the lowest, %", faulty, 100))
	}
	return out
}

// plot places the points; most is the end of the y axis, 0 for what the points need.
func plot(title, x, y string, points []measure, most float64) htmlPlot {
	p := htmlPlot{Title: title, X: x, Y: y}
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range points {
		low, high, most = min(low, math.Log10(v.x.Seconds())), max(high, math.Log10(v.x.Seconds())), max(most, v.y)
	}
	low, high = math.Floor(low), math.Max(math.Ceil(high), math.Floor(low)+1)
	if most <= 0 {
		most = 1
	}
	at := func(e float64) float64 { return plotLeft + (e-low)/(high-low)*(plotRight-plotLeft) }
	for e := low; e <= high; e++ {
		p.Ticks = append(p.Ticks, htmlTick{at(e), decade(e)})
	}
	for i := range 5 {
		share := float64(i) / 4
		p.Levels = append(p.Levels, htmlTick{plotBottom - share*(plotBottom-plotTop), fmt.Sprintf("%.3g", share*most)})
	}
	for _, v := range points {
		px := at(math.Log10(v.x.Seconds()))
		py := plotBottom - v.y/most*(plotBottom-plotTop)
		p.Points = append(p.Points, htmlPoint{Name: v.name, X: px, Y: py, TextY: py + 4, Left: (px-plotLeft)/(plotRight-plotLeft) > plotNameLeftFrom})
	}
	p.spread()
	return p
}

// spread moves names apart that would stand on each other: from the top down, each on its side of the points.
func (p *htmlPlot) spread() {
	slices.SortStableFunc(p.Points, func(a, b htmlPoint) int {
		switch {
		case a.Y < b.Y:
			return -1
		case a.Y > b.Y:
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	last := map[bool]float64{false: math.Inf(-1), true: math.Inf(-1)}
	for i := range p.Points {
		n := &p.Points[i]
		n.TextY = max(n.TextY, last[n.Left]+plotLine)
		last[n.Left] = n.TextY
	}
	// What was pushed under the axis goes up again, and what it meets with it.
	for _, left := range []bool{false, true} {
		limit := plotBottom - 2
		for i := len(p.Points) - 1; i >= 0; i-- {
			if n := &p.Points[i]; n.Left == left {
				n.TextY = min(n.TextY, limit)
				limit = n.TextY - plotLine
			}
		}
	}
}

// decade says a power of ten of a second: 1 ms, 10 ms, 100 s.
func decade(e float64) string {
	switch {
	case e < -3:
		return fmt.Sprintf("%.0f µs", math.Pow(10, e+6))
	case e < 0:
		return fmt.Sprintf("%.0f ms", math.Pow(10, e+3))
	}
	return fmt.Sprintf("%.0f s", math.Pow(10, e))
}
