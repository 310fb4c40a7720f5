package compare

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func page(t *testing.T, cells []Cell, dir string) string {
	t.Helper()
	var b bytes.Buffer
	if err := New(cells).WriteHTML(&b, Page{Title: "Results", Command: "make results"}, dir); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHTML(t *testing.T) {
	cells := sample()
	t.Chdir(t.TempDir()) // runs' folders may be told from the working folder, the page's from the root, or the other way round
	for _, run := range []string{"one", "two"} {
		if err := os.MkdirAll(filepath.Join("runs", run), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("runs", run, "report.html"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cells[1].Dir, cells[2].Dir, cells[4].Dir = "runs/one", filepath.Join(here, "runs/two"), "runs/gone"
	cells[3].Why = `<script>alert("c1")</script>`
	got := page(t, cells, here)
	for _, want := range []string{
		`<td class="violated"><details><summary>violated 1/2 (double-grant)</summary>`,
		`<a href="runs/one/report.html">report</a></li><li>run 2, seed 7: <span class="word-held">held</span> (available `, // the worst first
		`) <a href="runs/two/report.html">`,
		"acquire p50 ",
		`<td class="late"><details><summary>held with token check 1/1 (stale-holder)</summary>`,
		`<td class="held"><details><summary>held 1/1</summary>`,
		`<td class="none">n/a</td>`,
		`<td class="none">not run</td>`,
		`<td class="unavailable">`,
		`<td class="inconclusive">`,
		"It broke its promise under contention.",
		"locktest v1, on a server 1.0, 1 process",
		"&lt;script&gt;",
		"<circle",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %s", want)
		}
	}
	for _, no := range []string{"<script", "http://", "https://", "url(", "runs/gone", "@import", "ZgotmplZ"} {
		if strings.Contains(got, no) {
			t.Errorf("it has %s", no)
		}
	}
	if bare := page(t, cells, ""); strings.Contains(bare, "report.html") {
		t.Error("a page without a folder has links")
	}
}

// A page of no cell at all, and one where nothing was granted, is a page.
func TestHTMLOfNothing(t *testing.T) {
	for name, cells := range map[string][]Cell{"empty": nil, "n/a": {NA("a/mutex", "pause", "it has no servers")}} {
		if got := page(t, cells, "."); !strings.Contains(got, "</html>") || strings.Contains(got, "<svg") || strings.Contains(got, "NaN") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Points lie in their frame, and names don't stand on each other, also of locks that cost the same.
func TestPlotNames(t *testing.T) {
	var points []measure
	for _, name := range strings.Split("a b c d e f g h i j", " ") {
		points = append(points, measure{name, 3 * time.Millisecond, 100})
	}
	points = append(points, measure{"slow", 40 * time.Second, 0}, measure{"slower", 90 * time.Second, 0})
	p := plot("", "", "", points, 100)
	if len(p.Points) != len(points) {
		t.Fatalf("%d points, want %d", len(p.Points), len(points))
	}
	for i, a := range p.Points {
		if a.X < plotLeft || a.X > plotRight || a.Y < plotTop || a.Y > plotBottom || a.TextY < plotTop || a.TextY > plotBottom {
			t.Errorf("%s lies outside: %+v", a.Name, a)
		}
		for _, b := range p.Points[:i] {
			if d := a.TextY - b.TextY; a.Left == b.Left && d > -plotLine && d < plotLine {
				t.Errorf("%s and %s stand on each other: %.1f and %.1f", a.Name, b.Name, a.TextY, b.TextY)
			}
		}
	}
}
