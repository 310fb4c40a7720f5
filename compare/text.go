package compare

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteText writes the matrix for a terminal: a table, and what each lock kept.
func (m *Matrix) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "scenario\t"+strings.Join(m.Locks, "\t"))
	for _, s := range m.Scenarios {
		row := []string{s}
		for _, l := range m.Locks {
			row = append(row, m.Text(l, s))
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if rows := m.figures(); len(rows) > 0 && len(rows) <= mostFigures {
		fmt.Fprintln(t, "\n"+strings.Join(figureNames, "\t"))
		for _, row := range rows {
			fmt.Fprintln(t, strings.Join(row, "\t"))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	for _, l := range m.Locks {
		fmt.Fprintf(w, "\n%s: %s\n", l, m.Guarantee(l))
	}
	_, err := fmt.Fprintln(w)
	return err
}

// mostFigures is up to how many cells a terminal has the figures of each.
const mostFigures = 24

var figureNames = []string{"scenario", "lock", "runs", "availability", "slowest recovery", "acquire p50", "acquire p99"}

// figures are those of each cell that was run: the lowest availability and the slowest recovery of its runs, and the medians of
// what they took to acquire in calm time.
func (m *Matrix) figures() [][]string {
	var rows [][]string
	for _, s := range m.Scenarios {
		for _, l := range m.Locks {
			c, ok := m.Worst(l, s)
			if !ok || c.Word == NotApplicable {
				continue
			}
			available, recovery := 1.0, time.Duration(0)
			for _, c := range m.Cells(l, s) {
				available, recovery = min(available, c.Availability), max(recovery, c.Recovery)
			}
			row := []string{s, l, fmt.Sprint(len(m.Cells(l, s))), fmt.Sprintf("%.0f %%", 100*available), "–", "–", "–"}
			if recovery > 0 {
				row[4] = short(recovery)
			}
			if p50, p99, _, ok := m.Cost(l, s); ok {
				row[5], row[6] = short(p50), short(p99)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// Page is what a Markdown page says besides the tables.
type Page struct {
	Title   string
	Command string // by which it is made again
}

// WriteMarkdown writes the matrix as a page: tables, sentences, costs, and the worst run of each cell that isn't held.
func (m *Matrix) WriteMarkdown(w io.Writer, p Page) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "# %s\n\n", p.Title)
	m.provenance(b, p)
	fmt.Fprintf(b, "| scenario | %s |\n| --- |%s\n", strings.Join(m.Locks, " | "), strings.Repeat(" --- |", len(m.Locks)))
	for _, s := range m.Scenarios {
		row := []string{s}
		for _, l := range m.Locks {
			row = append(row, m.Text(l, s))
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
	}
	b.WriteString("\n## What each lock kept\n\n")
	for _, l := range m.Locks {
		fmt.Fprintf(b, "- **%s**: %s\n", l, m.Guarantee(l))
	}
	m.costs(b)
	m.details(b)
	_, err := io.WriteString(w, b.String())
	return err
}

// about says how many runs there were, when, and on what.
func (m *Matrix) about() string {
	var dates, versions, servers []string
	runs := 0
	for _, cells := range m.cells {
		for _, c := range cells {
			if c.Word == NotApplicable {
				continue
			}
			runs++
			dates, versions, servers = add(dates, c.Date), add(versions, cmp.Or(c.Version, "unversioned")), add(servers, c.Servers)
		}
	}
	slices.Sort(dates)
	slices.Sort(versions)
	slices.Sort(servers)
	text := fmt.Sprintf("%d runs", runs)
	if len(dates) > 0 {
		text += fmt.Sprintf(", %s to %s", dates[0], dates[len(dates)-1])
	}
	return text + fmt.Sprintf(", locktest %s, on %s. Rates are counts of runs: three of three is no proof.", strings.Join(versions, ", "), strings.Join(servers, "; "))
}

func (m *Matrix) provenance(b *strings.Builder, p Page) {
	b.WriteString(m.about() + "\n")
	if p.Command != "" {
		fmt.Fprintf(b, "Made by `%s`; seeds and dates of each run are in the data beside this page.\n", p.Command)
	}
	b.WriteString("\n*held*: no property of safety or liveness was violated. *held with token check*: so too, and the guarded resource refused stale tokens. " +
		"*violated*: with the kinds of what was. In brackets after *held*: a stale holder, which every lease allows, and which did no harm. *unavailable*: safe, but not granted again in time. *inconclusive*: the run leaves something undecided. *n/a*: the lock or its servers can't be put to it.\n\n")
}

func add(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// calmScenario is the one without faults, from which costs are taken.
const calmScenario = "contention"

// costs are those of the scenario without faults, where there is one.
func (m *Matrix) costs(b *strings.Builder) {
	if !slices.Contains(m.Scenarios, calmScenario) {
		fmt.Fprintf(b, "\n## Figures\n\nThe lowest availability and the slowest recovery of a cell's runs; acquire in calm time, medians over the runs.\n\n| %s |\n|%s\n", strings.Join(figureNames, " | "), strings.Repeat(" --- |", len(figureNames)))
		for _, row := range m.figures() {
			fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
		}
		return
	}
	b.WriteString("\n## What each costs\n\nAcquire in contention, without faults; medians over the runs. Locks that wait at the server and those that poll are not alike: see the scenario.\n\n| lock | p50 | p99 | grants a second |\n| --- | --- | --- | --- |\n")
	for _, l := range m.Locks {
		if p50, p99, n, ok := m.Cost(l, calmScenario); ok {
			fmt.Fprintf(b, "| %s | %s | %s | %.0f |\n", l, short(p50), short(p99), n)
		}
	}
}

func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%.0f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.2f ms", float64(d)/1e6)
}

// details name, for each cell that isn't held, its worst run and what it showed first.
func (m *Matrix) details(b *strings.Builder) {
	b.WriteString("\n## Where something was seen\n\n| lock | scenario | seed | what |\n| --- | --- | --- | --- |\n")
	for _, l := range m.Locks {
		for _, s := range m.Scenarios {
			c, ok := m.Worst(l, s)
			if !ok || c.Word == Held || c.Word == NotApplicable {
				continue
			}
			fmt.Fprintf(b, "| %s | %s | %d | %s: %s |\n", l, s, c.Seed, c.Word, strings.ReplaceAll(c.Why, "|", "\\|"))
		}
	}
}
