package baseline

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

var (
	paused  = Signature{"pause", "redis/single", "resource-safety/stale-write", "pause"}
	granted = Signature{"pause", "redis/single", "mutual-exclusion/double-grant", NoFault}
	today   = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
)

// outcome is a run in which each property has these findings, none: it is held. A kind may have a fault's number behind it.
func outcome(findings map[string][]checker.Finding) *runner.Outcome {
	o := &runner.Outcome{Lock: "redis/single", Scenario: &scenarios.Scenario{Name: "pause"}}
	o.History = &history.History{Header: history.Header{Faults: []history.Fault{{Number: 1, Kind: "pause"}, {Number: 2, Kind: "kill"}}}}
	for _, p := range []string{checker.MutualExclusion, checker.ResourceSafety, checker.Liveness} {
		r := checker.Result{Property: p, Verdict: checker.Held, Findings: findings[p]}
		if len(r.Findings) > 0 {
			r.Verdict = checker.Violated
		}
		o.Results = append(o.Results, r)
	}
	o.Results = append(o.Results, checker.Result{Property: checker.Coverage, Verdict: checker.Held})
	o.Conclusion = runner.Conclude(o.Scenario, o.Results, o.Metrics)
	return o
}

func staleWrite() map[string][]checker.Finding {
	return map[string][]checker.Finding{checker.ResourceSafety: {{Kind: "stale-write", Fault: 1, Strength: checker.Definite, Message: "m"}}}
}

func file(t *testing.T, signatures ...Signature) *File {
	t.Helper()
	f := &File{}
	if _, err := f.Add(signatures, "no fencing yet", "dana", "", today); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSignatures(t *testing.T) {
	for name, c := range map[string]struct {
		findings map[string][]checker.Finding
		want     []Signature
	}{
		"none":               {nil, nil},
		"during a fault":     {staleWrite(), []Signature{paused}},
		"without a fault":    {map[string][]checker.Finding{checker.MutualExclusion: {{Kind: "double-grant", Strength: checker.Definite}}}, []Signature{granted}},
		"each once, by kind": {map[string][]checker.Finding{checker.ResourceSafety: {{Kind: "stale-write", Fault: 1}, {Kind: "stale-write", Fault: 1}, {Kind: "lost-update", Fault: 2}}}, []Signature{paused, {"pause", "redis/single", "resource-safety/lost-update", "kill"}}},
		"firm ones alone":    {map[string][]checker.Finding{checker.ResourceSafety: {{Kind: "lost-update", Strength: checker.UnderStall}, {Kind: "stale-write", Fault: 1}}}, []Signature{paused}},
		"doubtful ones":      {map[string][]checker.Finding{checker.MutualExclusion: {{Kind: "double-grant", Strength: checker.UnderClocks}}}, []Signature{granted}},
		"of the service":     {map[string][]checker.Finding{checker.Liveness: {{Kind: "stuck-lock", Fault: 2}}}, []Signature{{"pause", "redis/single", "liveness/stuck-lock", "kill"}}},
		"an unknown fault":   {map[string][]checker.Finding{checker.MutualExclusion: {{Kind: "double-grant", Fault: 9}}}, []Signature{granted}},
	} {
		t.Run(name, func(t *testing.T) {
			r := Of(outcome(c.findings))
			if diff := cmp.Diff(c.want, r.Signatures()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if id := paused.ID(); id != "f368fd0c" {
		t.Errorf("the id of a signature changed to %s: committed files would lose their entries", id)
	}
}

// Expected violations are nobody's news.
func TestExpectedViolationsHaveNoSignature(t *testing.T) {
	o := outcome(staleWrite())
	o.Scenario.Expect = map[string]scenarios.Expectation{"resource-safety": {Verdict: "violated", Because: "no tokens"}}
	o.Conclusion = runner.Conclude(o.Scenario, o.Results, o.Metrics)
	r := Of(o)
	if got := r.Signatures(); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestExcuse(t *testing.T) {
	both := staleWrite()
	both[checker.ResourceSafety] = append(both[checker.ResourceSafety], checker.Finding{Kind: "lost-update", Fault: 1})
	two := staleWrite()
	two[checker.MutualExclusion] = []checker.Finding{{Kind: "double-grant"}}
	for name, c := range map[string]struct {
		file     *File
		findings map[string][]checker.Finding
		exit     int
		word     string
		known    int
	}{
		"no file":                             {nil, staleWrite(), 1, runner.WordViolated, 0},
		"another one is known":                {file(t, granted), staleWrite(), 1, runner.WordViolated, 0},
		"it is known":                         {file(t, paused), staleWrite(), 0, runner.WordKnown, 1},
		"one of two of a property":            {file(t, paused), both, 1, runner.WordViolated, 0},
		"one of two properties":               {file(t, paused), two, 1, runner.WordViolated, 1},
		"both":                                {file(t, paused, granted), two, 0, runner.WordKnown, 2},
		"nothing happened":                    {file(t, paused), nil, 0, runner.WordNone, 0},
		"of another lock":                     {file(t, Signature{"pause", "redis/redlock", paused.Property, "pause"}), staleWrite(), 1, runner.WordViolated, 0},
		"with another fault":                  {file(t, Signature{"pause", "redis/single", paused.Property, "kill"}), staleWrite(), 1, runner.WordViolated, 0},
		"a violation of the service's levels": {file(t, Signature{"pause", "redis/single", "liveness/stuck-lock", "kill"}), map[string][]checker.Finding{checker.Liveness: {{Kind: "stuck-lock", Fault: 2}}}, 0, runner.WordKnown, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := outcome(c.findings)
			c.file.Excuse(o)
			if got := o.Conclusion; got.Exit != c.exit || got.Word != c.word || len(got.Known) != c.known {
				t.Errorf("%+v", got)
			}
			for _, k := range o.Conclusion.Known {
				if k.Because != "no fencing yet" || k.Exit != 0 {
					t.Errorf("%+v", k)
				}
			}
		})
	}
}

// A run without evidence stays inconclusive whatever is known.
func TestExcuseKeepsInconclusive(t *testing.T) {
	o := outcome(staleWrite())
	o.Results[3].Verdict = checker.Inconclusive
	o.Conclusion = runner.Conclude(o.Scenario, o.Results, o.Metrics)
	file(t, paused).Excuse(o)
	if o.Conclusion.Exit != runner.ExitInconclusive || o.Conclusion.Word != runner.WordInconclusive {
		t.Errorf("%+v", o.Conclusion)
	}
}

func TestCompare(t *testing.T) {
	seen, not := Of(outcome(staleWrite())), Of(outcome(nil))
	doubtful := outcome(nil)
	doubtful.Results[3].Verdict = checker.Inconclusive
	cut := outcome(nil)
	cut.Interrupted = "SIGINT"
	other := outcome(nil)
	other.Lock = "etcd/lease"
	many := append([]Run{seen}, make([]Run, 10)...)
	for i := range 10 {
		many[i+1] = not
	}
	type counts struct{ New, Ongoing, Resolved, Unclear int }
	for name, c := range map[string]struct {
		file *File
		runs []Run
		want counts
		rare bool
	}{
		"new":                              {file(t), []Run{seen, not}, counts{New: 1}, false},
		"no file":                          {nil, []Run{seen}, counts{New: 1}, false},
		"ongoing":                          {file(t, paused), []Run{not, seen}, counts{Ongoing: 1}, false},
		"resolved":                         {file(t, paused), []Run{not, not}, counts{Resolved: 1}, false},
		"the evidence was not enough once": {file(t, paused), []Run{not, Of(doubtful)}, counts{Unclear: 1}, false},
		"a run was cut":                    {file(t, paused), []Run{Of(cut)}, counts{Unclear: 1}, false},
		"it wasn't run":                    {file(t, paused), []Run{Of(other)}, counts{}, false},
		"new and resolved":                 {file(t, granted), []Run{seen}, counts{New: 1, Resolved: 1}, false},
		"rare":                             {file(t, paused), many, counts{Ongoing: 1}, true},
		"one in ten isn't":                 {file(t, paused), many[:10], counts{Ongoing: 1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.file.Compare(c.runs)
			if diff := cmp.Diff(c.want, counts{len(got.New), len(got.Ongoing), len(got.Resolved), len(got.Unclear)}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, s := range got.Ongoing {
				if s.Rare != c.rare || s.Because == "" {
					t.Errorf("%+v", s)
				}
			}
		})
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), DefaultFile)
	f := file(t, paused, granted, paused)
	if len(f.Accepted) != 2 {
		t.Fatalf("%d entries", len(f.Accepted))
	}
	if err := f.Write(path); err != nil {
		t.Fatal(err)
	}
	back, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, back, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if e, ok := back.Find(paused); !ok || e.By != "dana" || e.Since != "2026-11-29" {
		t.Errorf("%+v", e)
	}
	if gone := back.Remove([]string{paused.ID()}); len(gone) != 1 || len(back.Accepted) != 1 {
		t.Errorf("%v", gone)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%v: %v", err, left)
	}
	if _, err := (&File{}).Add([]Signature{paused}, " ", "", "", today); err == nil {
		t.Error("an entry without a reason was added")
	}
}

func TestReadRefuses(t *testing.T) {
	entry := func(more string) string {
		return `{"schema": "locktest.baseline/1", "accepted": [{"id": "` + paused.ID() + `", "scenario": "pause", "lock": "redis/single", "property": "resource-safety/stale-write", "fault": "pause"` + more + `}]}`
	}
	for name, c := range map[string]struct{ text, says string }{
		"no JSON":          {"{", "unexpected EOF"},
		"another schema":   {`{"schema": "x", "accepted": []}`, "expected locktest.baseline/1"},
		"no reason":        {entry(""), "because is missing"},
		"a blank reason":   {entry(`, "because": " "`), "because is missing"},
		"an unknown key":   {entry(`, "because": "b", "why": "c"`), "why"},
		"a wrong id":       {strings.Replace(entry(`, "because": "b"`), paused.ID(), "00000000", 1), "that of what it names is " + paused.ID()},
		"no day":           {entry(`, "because": "b", "review": "soon"`), "soon"},
		"an entry twice":   {strings.Replace(entry(`, "because": "b"`), "]}", ","+strings.SplitAfterN(strings.TrimSuffix(entry(`, "because": "b"`), "]}"), "[", 2)[1]+"]}", 1), "twice"},
		"it is incomplete": {`{"schema": "locktest.baseline/1", "accepted": [{"because": "b"}]}`, "needs a property"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "b.json")
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(path); err == nil || !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestDue(t *testing.T) {
	f := file(t, paused)
	for review, want := range map[string]int{"": 0, "2026-11-28": 1, "2026-11-29": 0, "2027-01-15": 0} {
		f.Accepted[0].Review = review
		if got := len(f.Due(today)); got != want {
			t.Errorf("%q: %d, want %d", review, got, want)
		}
	}
}
