package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/reports"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// disputed is a run, as it is judged, about which the second engine has another answer than the first: hold that all is well, or not.
func disputed(t *testing.T, text string) *runner.Outcome {
	t.Helper()
	h, err := history.ParseTextString(text)
	if err != nil {
		t.Fatal(err)
	}
	cross := func(context.Context, *history.History) ([]checker.Agreement, error) {
		return []checker.Agreement{{Lock: "L", Model: "mutex", Engine: "porcupine", Answer: "other", Sweep: "legal"}}, nil
	}
	dir := t.TempDir()
	o := &runner.Outcome{Run: "7f3a", Dir: dir, Lock: "memory/mutex", Scenario: &scenarios.Scenario{Name: "x"}, Again: "locktest run x"}
	runner.Judge(context.Background(), o, h, checker.All()[:1], cross, checker.Options{})
	return o
}

const (
	peaceful = "lock L expiry=none\na:A[0,10]lock=L b:A[5,30]lock=L a:R[20,25]lock=L b:R[40,41]lock=L"
	twice    = "lock L expiry=none\na:A[0,10]lock=L b:A[5,15]lock=L a:R[20,25]lock=L b:R[40,41]lock=L"
)

// A disagreement of the two engines is a bug of locktest, and every part of the program treats the run as one that failed.
func TestDisagreementFailsEverywhere(t *testing.T) {
	for name, c := range map[string]struct{ text, word string }{"all is well": {peaceful, runner.WordNone}, "violated": {twice, runner.WordViolated}} {
		t.Run(name, func(t *testing.T) {
			o := disputed(t, c.text)
			if o.Conclusion.Word != c.word {
				t.Fatal(o.Conclusion.Word)
			}
			if got := exitOf(o, nil); got != exitInternal {
				t.Errorf("status %d", got)
			}
			var out, errs strings.Builder
			a := &app{stdout: &out, stderr: &errs, page: reports.HTML}
			a.keep(o, 100)
			a.tell(o)
			path := filepath.Join(o.Dir, runner.HistoryFile)
			for _, want := range []string{"LT901", "the two engines disagree about L (mutex)", "a bug in locktest", path} {
				if n := strings.Count(errs.String(), want); n != 1 {
					t.Errorf("%d times %q: %s", n, want, errs.String())
				}
			}
			if text := strings.Join(strings.Fields(out.String()), " "); strings.Count(text, "Porcupine disagrees about L (mutex): it says other, the sweep says legal.") != 1 || strings.Contains(text, "did not go to its end") || strings.Contains(text, "evidence, not proof") {
				t.Errorf("%s", text)
			}
			var d reports.Document
			if err := json.Unmarshal([]byte(read(t, filepath.Join(o.Dir, runner.ResultFile))), &d); err != nil || d.Exit != exitInternal || d.Met || d.Error == nil || d.Error.Code != "LT901" {
				t.Errorf("%v, exit %d, met %v, %+v", err, d.Exit, d.Met, d.Error)
			}
			if text := aboutRun(o.Dir); !strings.Contains(text, "the two engines disagree") {
				t.Error(text)
			}
			for _, until := range []string{"violation", "never"} {
				f := &runFlags{until: until, keep: retention{rule: "violated"}}
				if !f.stops(o) {
					t.Errorf("--until %s goes on", until)
				}
				out.Reset()
				a.tally([]*runner.Outcome{o}, 2, f)
				if !strings.Contains(out.String(), "as expected in 0 of 1 runs") || strings.Contains(out.String(), "the rate is below") {
					t.Error(out.String())
				}
			}
			f := &runFlags{keep: retention{rule: "violated"}}
			if err := f.keep.ended(o, exitOf(o, nil)); err != nil || o.Dir == "" {
				t.Fatalf("the folder that is to be reported is gone: %v", err)
			}
			if _, err := os.Stat(o.Dir); err != nil {
				t.Error(err)
			}
		})
	}
}

// A folder that is removed later isn't named any more.
func TestDisagreementWithoutItsFolder(t *testing.T) {
	k := retention{rule: "1"}
	o := disputed(t, peaceful)
	for _, o := range []*runner.Outcome{o, disputed(t, peaceful)} {
		if err := k.ended(o, exitInternal); err != nil {
			t.Fatal(err)
		}
	}
	p := reports.Explain(o.Err)
	if len(p.Fix) != 1 || strings.Contains(p.Fix[0], runner.HistoryFile) {
		t.Errorf("%v", p.Fix)
	}
}
