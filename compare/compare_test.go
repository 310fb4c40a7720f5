package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

var update = flag.Bool("update", false, "write the golden files anew")

// outcome is a run with these results.
func outcome(lock, scenario, resource string, rs ...checker.Result) *runner.Outcome {
	o := &runner.Outcome{Lock: lock, Scenario: &scenarios.Scenario{Name: scenario, Workload: scenarios.Workload{Resource: resource}}, Seed: 7, Cluster: "a server 1.0, 1 process",
		Began: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Results: rs}
	o.Metrics.All.Granted, o.Metrics.All.Availability, o.Metrics.Calm.Throughput = 100, 1, 50
	o.Metrics.Calm.Acquire = runner.Quantiles{N: 100, P50: 400 * time.Microsecond, P99: 20 * time.Millisecond}
	return o
}

func violated(property, kind string, s checker.Strength) checker.Result {
	return checker.Result{Property: property, Verdict: checker.Violated, Findings: []checker.Finding{{Kind: kind, Strength: s, Message: "c1 and c2 | held it."}}}
}

func held(property string) checker.Result {
	return checker.Result{Property: property, Verdict: checker.Held, Numbers: map[string]float64{"slowest_recovery_s": 1.5}}
}

func sample() []Cell {
	fenced := held(checker.Fencing)
	stale := violated(checker.MutualExclusion, checker.StaleHolder, checker.Hazard)
	stale.Kinds = map[string]checker.Verdict{checker.StaleHolder: checker.Violated, checker.DoubleGrant: checker.Held}
	return []Cell{
		Of(outcome("b/lease", "contention", "ignores-token", held(checker.MutualExclusion), held(checker.Liveness)), 1, "v1"),
		Of(outcome("a/mutex", "contention", "ignores-token", violated(checker.MutualExclusion, checker.DoubleGrant, checker.Definite)), 1, "v1"),
		Of(outcome("a/mutex", "contention", "ignores-token", held(checker.MutualExclusion)), 2, "v1"),
		Of(outcome("b/lease", "pause", "ignores-token", stale, violated(checker.ResourceSafety, checker.StaleWrite, checker.Definite)), 1, "v1"),
		Of(outcome("b/lease", "pause-checked", "checks-token", stale, held(checker.ResourceSafety), fenced), 1, "v1"),
		Of(outcome("b/lease", "kill", "ignores-token", violated(checker.Liveness, checker.NoRecovery, checker.Definite)), 1, "v1"),
		Of(outcome("b/lease", "missed", "ignores-token", checker.Result{Property: checker.Coverage, Verdict: checker.Inconclusive, Why: "no fault came"}), 1, "v1"),
		NA("a/mutex", "pause", "it has no servers"),
	}
}

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := New(sample()).WriteMarkdown(&b, Page{Title: "Results", Command: "make results"}); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/matrix.md"
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWords(t *testing.T) {
	m := New(sample())
	for _, c := range []struct{ lock, scenario, want string }{
		{"b/lease", "contention", "held 1/1"},
		{"a/mutex", "contention", "violated 1/2 (double-grant)"},
		{"b/lease", "pause", "violated 1/1 (stale-holder, stale-write)"},
		{"b/lease", "pause-checked", "held with token check 1/1 (stale-holder)"},
		{"b/lease", "kill", "unavailable 1/1"},
		{"b/lease", "missed", "inconclusive 1/1"},
		{"a/mutex", "pause", "n/a"},
		{"a/mutex", "kill", "not run"},
	} {
		if got := m.Text(c.lock, c.scenario); got != c.want {
			t.Errorf("%s under %s: %s, want %s", c.lock, c.scenario, got, c.want)
		}
	}
	if got := m.Guarantee("a/mutex"); got != "It broke its promise under contention." {
		t.Error(got)
	}
	if got := m.Guarantee("b/lease"); !strings.Contains(got, "outlasted its lease under pause, as every lease allows") || !strings.Contains(got, "outlasted its lease under pause-checked and did no harm") || !strings.Contains(got, "kept everything under contention") {
		t.Error(got)
	}
}

// A double grant that only clocks show is no violation of a cell, and a doubtful one of a lease no hazard.
func TestDoubtIsNoKind(t *testing.T) {
	c := Of(outcome("b/lease", "x", "ignores-token", violated(checker.MutualExclusion, checker.DoubleGrant, checker.UnderClocks)), 1, "")
	if len(c.Violated) != 0 {
		t.Errorf("%v", c.Violated)
	}
}

func TestCellsAreReadBack(t *testing.T) {
	var b bytes.Buffer
	for _, c := range sample() {
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	got, err := ReadCells(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := ReadCells(strings.NewReader("{}\n")); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a line that is no cell: %v", err)
	}
}

func open(property, why string) checker.Result {
	return checker.Result{Property: property, Verdict: checker.Inconclusive, Why: why, Summary: why}
}

// What is undecided, or disputed by the second engine, is no pass; what a client kept and an order that nothing tried say nothing of a lock.
func TestUndecidedIsNotHeld(t *testing.T) {
	mutex := held(checker.MutualExclusion)
	stale := violated(checker.MutualExclusion, checker.StaleHolder, checker.Hazard)
	stale.Kinds = map[string]checker.Verdict{checker.StaleHolder: checker.Violated, checker.DoubleGrant: checker.Inconclusive}
	doubt := stale
	doubt.Findings = append(slices.Clone(stale.Findings), checker.Finding{Kind: checker.DoubleGrant, Strength: checker.UnderClocks, Message: "for 1 ms, as clocks have it"})
	stuck := violated(checker.Liveness, checker.NoRecovery, checker.Definite)
	double := violated(checker.MutualExclusion, checker.DoubleGrant, checker.Definite)
	dispute := []checker.Agreement{{Lock: "orders", Model: "mutex", Answer: "illegal", Sweep: "legal"}}
	agreed := []checker.Agreement{{Lock: "orders", Model: "mutex", Answer: "legal", Sweep: "legal", Agrees: true}, {Lock: "stock", Model: "mutex", Because: "time was over"}}
	for name, c := range map[string]struct {
		results []checker.Result
		cross   []checker.Agreement
		err     error
		word    Word
		why     string
	}{
		"a panic in safety":              {[]checker.Result{mutex, open(checker.Ownership, "the checker panicked: x")}, nil, nil, Inconclusive, "the checker panicked: x"},
		"exclusion":                      {[]checker.Result{open(checker.MutualExclusion, "too short")}, nil, nil, Inconclusive, "too short"},
		"liveness":                       {[]checker.Result{mutex, open(checker.Liveness, "the host stalled")}, nil, nil, Inconclusive, "the host stalled"},
		"an open double grant":           {[]checker.Result{stale}, nil, nil, Inconclusive, "whether it was granted to two at once is not known"},
		"one that only clocks show":      {[]checker.Result{doubt}, nil, nil, Inconclusive, "for 1 ms, as clocks have it"},
		"no order was tried":             {[]checker.Result{mutex, open(checker.Fairness, "nobody waited"), open(checker.Hygiene, "late")}, nil, nil, Held, ""},
		"not applicable":                 {[]checker.Result{mutex, {Property: checker.Permits, Verdict: checker.NotApplicable, Why: "no semaphore"}}, nil, nil, Held, ""},
		"open, and not to be had":        {[]checker.Result{stuck, open(checker.Fencing, "no two tokens")}, nil, nil, Inconclusive, "no two tokens"},
		"open, and violated":             {[]checker.Result{double, open(checker.Fencing, "no two tokens")}, nil, nil, Violated, "c1 and c2 | held it."},
		"the engines disagree":           {[]checker.Result{mutex}, dispute, errors.New("LT901"), Inconclusive, "the two engines disagree about orders (mutex)"},
		"they disagree on a violation":   {[]checker.Result{double}, dispute, nil, Inconclusive, "the two engines disagree about orders (mutex)"},
		"they agree, or one says naught": {[]checker.Result{mutex}, agreed, nil, Held, ""},
		"cut short":                      {[]checker.Result{mutex}, nil, errors.New("a server died"), Inconclusive, "the run was cut short"},
	} {
		t.Run(name, func(t *testing.T) {
			o := outcome("b/lease", "x", "ignores-token", c.results...)
			o.CrossCheck, o.Err = c.cross, c.err
			if got := Of(o, 1, ""); got.Word != c.word || got.Why != c.why {
				t.Errorf("%s, %q; want %s, %q", got.Word, got.Why, c.word, c.why)
			}
		})
	}
}

// Only a hold that outlasted its lease, and what it wrote then, is what every lease allows.
func TestHazard(t *testing.T) {
	for _, c := range []struct {
		violated string
		want     bool
	}{
		{"mutual-exclusion/stale-holder resource-safety/stale-write", true},
		{"mutual-exclusion/stale-holder resource-safety/stale-write resource-safety/lost-update resource-safety/wrong-count", true},
		{"mutual-exclusion/stale-holder resource-safety/lost-update", true},
		{"resource-safety/stale-write resource-safety/lost-update", true},
		{"resource-safety/stale-write liveness/no-recovery", true},
		{"resource-safety/lost-update", false},
		{"resource-safety/lost-update liveness/no-recovery", false},
		{"resource-safety/register-order", false},
		{"resource-safety/stale-write resource-safety/register-order", false},
		{"mutual-exclusion/stale-holder resource-safety/phantom-read", false},
		{"mutual-exclusion/stale-holder resource-safety/rejected-applied", false},
		{"mutual-exclusion/stale-holder resource-safety/stale-write fencing/token-order", false},
		{"mutual-exclusion/double-grant resource-safety/stale-write", false},
		{"liveness/no-recovery", false},
	} {
		cell := Cell{Word: Violated, Violated: strings.Fields(c.violated)}
		if got := cell.Hazard(); got != c.want {
			t.Errorf("%s: %v", c.violated, got)
		}
	}
}
