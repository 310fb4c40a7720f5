package reports

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// judged reads a hand-made history of the checker's and judges it.
func judged(t *testing.T, file string) *runner.Outcome {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	given, _, _ := strings.Cut(string(text), "\n---\n")
	h, err := history.ParseTextString(given)
	if err != nil {
		t.Fatal(err)
	}
	o := &runner.Outcome{Scenario: &scenarios.Scenario{Name: "by-hand"}, Lock: "test/lock", History: h, Results: checker.Run(context.Background(), h, checker.All(), checker.Options{}), Metrics: runner.Measure(h)}
	o.Conclusion = runner.Conclude(o.Scenario, o.Results, o.Metrics)
	return o
}

// TestCheckedHistories tells the stories of everything that the checkers find in their own histories.
func TestCheckedHistories(t *testing.T) {
	files, err := filepath.Glob("../checker/testdata/*.txt")
	if err != nil || len(files) < 23 {
		t.Fatalf("%d histories, %v", len(files), err)
	}
	stories := 0
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			o := judged(t, file)
			text := written(t, Text(Style{}), o)
			narrow(t, text, 80, o)
			for _, g := range Groups(o.History, o.Results) {
				stories++
				for _, heading := range []string{"What happened", "Why this is a ", "Possible cause"} {
					if !strings.Contains(text, heading) {
						t.Errorf("no %q in:\n%s", heading, text)
					}
				}
				if events, _ := newScene(o.History, &g.Incidents[0]).events(); len(events) < 1 {
					t.Errorf("nothing happened in the story of %s", g.Incidents[0].Pattern)
				}
			}
			if testing.Verbose() {
				t.Log("\n" + text)
			}
		})
	}
	if stories < 20 {
		t.Errorf("%d stories only", stories)
	}
}

// A stale write has one moment: that of its line in the story and of its mark in the lanes, in the table, the JSON and the page.
func TestStaleWritesHaveOneMoment(t *testing.T) {
	files, err := filepath.Glob("../checker/testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	lasting := 0
	for _, file := range files {
		o := judged(t, file)
		for _, r := range o.Results {
			kinds, _ := kindsOf(o.History, r)
			for _, k := range kinds {
				first := never
				for _, f := range r.Findings {
					if f.Kind == checker.StaleWrite && k.name == f.Kind {
						first = min(first, drawn(t, o, &f))
						lasting += bit(f.Until > f.At)
					}
				}
				if first != never && k.first != first {
					t.Errorf("%s: %s are dated %s, and drawn first at %s", file, k.name, at(k.first), at(first))
				}
			}
		}
	}
	if lasting < 3 {
		t.Errorf("only %d stale writes took any time", lasting)
	}
}

// drawn is where the story of a finding has the write that is stale.
func drawn(t *testing.T, o *runner.Outcome, f *checker.Finding) time.Duration {
	t.Helper()
	for _, g := range Groups(o.History, o.Results) {
		for _, i := range g.Incidents {
			for n, told := range i.Findings {
				if told.Kind != f.Kind || i.Of[n] != checker.ResourceSafety || told.Message != f.Message {
					continue
				}
				for _, st := range newScene(o.History, &i).steps {
					if st.at() == told.At && st.op().F == history.Write {
						return st.at()
					}
				}
				t.Errorf("no write of the story stands at %s: %s", at(told.At), f.Message)
			}
		}
	}
	return never
}
