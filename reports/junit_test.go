package reports

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/baseline"
	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/runner"
)

// allCases is a batch of every case of the golden files, in a fixed order, and of a run that could not be carried out.
func allCases() *Batch {
	all := cases()
	b := &Batch{Exit: 1}
	for _, name := range []string{"stale-write", "stale-write-wanted", "overlap", "fence-order", "strangers-release", "stuck-lock", "unknown-acquire", "clean", "inconclusive", "hostile"} {
		o := all[name]
		o.Scenario.Name, o.Scenario.File = name, "scenarios/"+name+".yaml"
		b.Outcomes = append(b.Outcomes, o)
	}
	failed := cleanRun()
	failed.Scenario.Name, failed.Results, failed.History, failed.Err = "failed", nil, nil, errors.New("redis-server ended: exit status 1\x00")
	b.Outcomes = append(b.Outcomes, failed)
	return b
}

func batched(t *testing.T, r BatchReporter, b *Batch) string {
	t.Helper()
	var w strings.Builder
	if err := SafelyBatch(r)(&w, b); err != nil {
		t.Fatal(err)
	}
	return w.String()
}

// valid writes a JUnit file, and has xmllint validate it against the schema.
func valid(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "junit.xml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("xmllint", "--noout", "--schema", "testdata/junit.xsd", path).CombinedOutput(); err != nil {
		t.Fatalf("xmllint (make deps): %v\n%s\n%s", err, out, text)
	}
	return path
}

func TestJUnit(t *testing.T) {
	text := batched(t, JUnit, allCases())
	golden(t, "testdata/junit.golden.xml", text)
	path := valid(t, text)
	out, err := exec.Command("/usr/bin/python3", "testdata/readback.py", path).Output()
	if err != nil {
		t.Fatalf("junitparser (make deps): %v\n%s", err, out)
	}
	found := map[string]string{}
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"stale-write [redis/single]":                   "6 tests, 2 failures, 0 errors, 0 skipped",
		"stale-write [redis/single] / fencing":         "passed",
		"stale-write [redis/single] / resource-safety": "failure: stock took token 41 after token 42",
		"stale-write-wanted [redis/single]":            "6 tests, 0 failures, 0 errors, 0 skipped",
		"clean [redis/single] / permits":               "skipped: no lock has permits",
		"inconclusive [redis/single] / evidence":       "error: 1 acquire was granted",
		"stuck-lock [redis/single] / liveness":         "failure: \"orders\" was not granted",
		"failed [redis/single] / run":                  "error: redis-server ended: exit status 1",
		"hostile [redis/single] / mutual-exclusion":    "failure: both held  ]0;owned größe",
		"overlap [redis/single] / evidence":            "passed",
	} {
		if got := found[name]; !strings.HasPrefix(got, want) {
			t.Errorf("%s is read back as %q, want %q", name, got, want)
		}
	}
}

// TestJUnitOfRepeats: one case however often it was run, and names that never come twice.
func TestJUnitOfRepeats(t *testing.T) {
	b := &Batch{Exit: 1, Outcomes: []*runner.Outcome{cleanRun(), staleWrite(nil), staleWrite(nil)}}
	other := cleanRun()
	other.Scenario.File = "elsewhere.yaml"
	b.Outcomes = append(b.Outcomes, other)
	text := batched(t, JUnit, b)
	valid(t, text)
	var got junitSuites
	if err := xml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Suites) != 2 || got.Suites[0].Name == got.Suites[1].Name || got.Failures != 2 {
		t.Fatalf("%d suites, %d failures: %s", len(got.Suites), got.Failures, text)
	}
	if f := got.Suites[0].Cases[0].Failure; f == nil || !strings.HasSuffix(f.Message, "(2 of 3 runs)") || strings.Count(f.Text, "\n") > junitStoryLines+1 {
		t.Errorf("%+v", f)
	}
}

// What --fail-on lets pass is no failure.
func TestJUnitOfWhatPasses(t *testing.T) {
	b := &Batch{Outcomes: []*runner.Outcome{staleWrite(nil), inconclusive()}, Passes: map[string]bool{"violated": true, "inconclusive": true}}
	text := batched(t, JUnit, b)
	valid(t, text)
	if strings.Contains(text, "<failure") || strings.Contains(text, "<error") || !strings.Contains(text, "which --fail-on lets pass") {
		t.Error(text)
	}
}

// many is a run with so many violations of two kinds, with the longest of names.
func many(n int) *runner.Outcome {
	o := staleWrite(nil)
	r := &o.Results[1]
	f := r.Findings[0]
	r.Findings = nil
	for i := range n {
		f.Message = fmt.Sprintf("%d %s", i, strings.Repeat("a very long message | with <marks> ", 40))
		r.Findings = append(r.Findings, f)
	}
	r.Count = n
	o.Conclusion = runner.Conclude(o.Scenario, o.Results, o.Metrics)
	return o
}

func TestMarkdownIsSmall(t *testing.T) {
	single := &Batch{Exit: 1, Outcomes: []*runner.Outcome{many(500)}}
	apart := &Batch{Exit: 1}
	for i := range 500 {
		o := many(1)
		o.Scenario.Name = fmt.Sprintf("%s-%d", strings.Repeat("long", 100), i)
		apart.Outcomes = append(apart.Outcomes, o)
	}
	for name, b := range map[string]*Batch{"500 in one run": single, "500 runs with one": apart} {
		text := batched(t, Markdown, b)
		if len(text) > 200_000 || len(text) < 1000 {
			t.Errorf("%s: %d bytes", name, len(text))
		}
		t.Logf("%s: %d bytes", name, len(text))
		valid(t, batched(t, JUnit, b))
	}
	if text := batched(t, Markdown, apart); !strings.Contains(text, "400 rows more are not shown") || !strings.Contains(text, "495 violations more") {
		t.Errorf("what is left out isn't counted:\n%s", text[len(text)-2000:])
	}
}

func TestMarkdown(t *testing.T) {
	text := batched(t, Markdown, allCases())
	golden(t, "testdata/summary.golden.md", text)
	for _, bad := range []string{"\x1b", "@everyone", "<img"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q is in it", bad)
		}
	}
}

func TestMarkdownCells(t *testing.T) {
	for in, want := range map[string]string{
		"a|b":                "a\\|b",
		"<img onerror=x>":    "&lt;img onerror=x&gt;",
		"`code` *b* _i_ @me": "&#96;code&#96; &#42;b&#42; &#95;i&#95; &#64;me",
		"two\nlines":         "two lines",
		`a\|b`:               `a&#92;\|b`,
	} {
		if diff := cmp.Diff(want, cell(in)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
	}
}

func TestGitHub(t *testing.T) {
	place := func(file string) string { return file }
	withLine := staleWrite(nil)
	withLine.Scenario.File = "scenarios/a,b.yaml"
	withLine.History.Header.Faults[0].Line = 17
	for name, c := range map[string]struct {
		b    *Batch
		want []string
	}{
		"at the fault's line": {&Batch{Outcomes: []*runner.Outcome{withLine}}, []string{
			"::error file=scenarios/a%2Cb.yaml,line=17,title=mutual exclusion violated%2C redis/single::c2 went on as holder of \"orders\" until 15.529 s, although its lease had ended at 14.002 s and c4 held it from 14.051 s on.",
			"::error file=scenarios/a%2Cb.yaml,line=17,title=resource safety violated%2C redis/single::stock took token 41 after token 42, so the update of c4 is lost.",
		}},
		"inconclusive is a warning": {&Batch{Outcomes: []*runner.Outcome{inconclusive()}}, []string{
			"::warning title=mutual exclusion inconclusive%2C redis/single::there were no two holds to compare",
			"::warning title=evidence inconclusive%2C redis/single::1 acquire was granted, at least 100 are asked for; fault 1 (pause the holder) hit a hold 0 times of 8",
		}},
		"all as expected":   {&Batch{Outcomes: []*runner.Outcome{cleanRun()}}, nil},
		"what passes":       {&Batch{Outcomes: []*runner.Outcome{staleWrite(nil)}, Passes: map[string]bool{"violated": true}}, nil},
		"once of one thing": {&Batch{Outcomes: []*runner.Outcome{stuckLock(), stuckLock()}}, []string{"::error title=liveness expectation%2C redis/single::\"orders\" was not granted to anyone from 6.003 s, when the lease of c2 had ended at the latest, until 18.400 s, although it was asked for 13 times."}},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Split(strings.TrimSuffix(batched(t, GitHub(place), c.b), "\n"), "\n")
			if len(c.want) == 0 {
				c.want = []string{""}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// GitHub shows ten and hides the rest: the last of ours says how many more there are.
func TestGitHubIsTold(t *testing.T) {
	b := &Batch{}
	for i := range 9 {
		o := stuckLock()
		o.Scenario.Name = fmt.Sprint("s", i)
		b.Outcomes = append(b.Outcomes, o)
	}
	lines := strings.Split(strings.TrimSpace(batched(t, GitHub(func(string) string { return "" }), b)), "\n")
	if len(lines) != annotations || lines[annotations-1] != "::error title=locktest::5 more are not shown here" {
		t.Errorf("%d lines, the last: %s", len(lines), lines[len(lines)-1])
	}
}

// A reporter's mistake costs its report.
func TestSafelyBatch(t *testing.T) {
	var w strings.Builder
	err := SafelyBatch(func(w io.Writer, _ *Batch) error {
		fmt.Fprint(w, "half")
		panic("made to")
	})(&w, &Batch{})
	if err == nil || w.Len() != 0 {
		t.Errorf("%v, %q was written", err, w.String())
	}
}

func TestGravest(t *testing.T) {
	failed := &runner.Outcome{Err: errors.New("no")}
	b := &Batch{Outcomes: []*runner.Outcome{cleanRun(), failed, inconclusive(), staleWrite(nil)}}
	if o := b.gravest(); o != b.Outcomes[3] {
		t.Errorf("%+v", o.Conclusion)
	}
	b.Outcomes = b.Outcomes[:3]
	if o := b.gravest(); o != failed {
		t.Errorf("%+v", o.Conclusion)
	}
	if got := checker.Coverage; len(about(inconclusive().Conclusion.Conditions, got)) != 1 {
		t.Error("the condition about coverage isn't found")
	}
}

// Violations that a baseline accepts pass, and are told with their reason.
func TestKnownViolations(t *testing.T) {
	o := staleWrite(nil)
	f := &baseline.File{}
	r := baseline.Of(o)
	if _, err := f.Add(r.Signatures()[:1], "no | fencing yet", "", "", time.Now()); err != nil {
		t.Fatal(err)
	}
	f.Excuse(o)
	b := &Batch{Exit: 1, Outcomes: []*runner.Outcome{o}, Baseline: f.Compare([]baseline.Run{baseline.Of(o)})}
	xml := batched(t, JUnit, b)
	valid(t, xml)
	if strings.Count(xml, "<failure") != 1 || !strings.Contains(xml, "violated, and known by the baseline (no | fencing yet)") {
		t.Error(xml)
	}
	md := batched(t, Markdown, b)
	if !strings.Contains(md, "**New**\n\n- `") || !strings.Contains(md, "<summary>1 known violation ongoing</summary>") || !strings.Contains(md, "no \\| fencing yet") {
		t.Error(md)
	}
	var w strings.Builder
	if err := Baseline(&w, b.Baseline, Style{}); err != nil || strings.Count(w.String(), "ongoing") != 1 || strings.Count(w.String(), "  new  ") != 1 {
		t.Errorf("%v: %s", err, w.String())
	}
	text := written(t, Text(Style{}), o)
	if !strings.Contains(text, "Known, by the baseline: mutual exclusion") || !strings.Contains(text, "known ") {
		t.Error(text)
	}
}
