package reports

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/locktest/locktest/runner"
)

type trace struct {
	TraceEvents []traceEvent
	OtherData   map[string]string
}

func traced(t *testing.T, o *runner.Outcome) trace {
	t.Helper()
	var out trace
	if err := json.Unmarshal([]byte(written(t, Perfetto, o)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Every case is a trace whose viewer drops nothing of it: spans that begin end, and operations on one thread don't overlap.
func TestPerfetto(t *testing.T) {
	for name, o := range cases() {
		t.Run(name, func(t *testing.T) {
			open := map[string]float64{}
			until := map[[2]int]float64{}
			named := map[[2]int]bool{}
			tr := traced(t, o)
			for _, e := range tr.TraceEvents {
				thread := [2]int{e.Process, e.Thread}
				if e.Phase == "M" {
					named[thread] = true
					continue
				}
				if !named[thread] {
					t.Errorf("%+v is on a track without a name", e)
				}
				key := fmt.Sprint(e.Category, e.ID, thread)
				switch e.Phase {
				case "b":
					if _, ok := open[key]; ok {
						t.Errorf("%s begins twice", key)
					}
					open[key] = e.Time
				case "e":
					if from, ok := open[key]; !ok || e.Time < from {
						t.Errorf("%s ends before it begins", key)
					}
					delete(open, key)
				case "X":
					if e.Time < until[thread] {
						t.Errorf("%s at %v overlaps the one before, until %v", e.Name, e.Time, until[thread])
					}
					until[thread] = e.Time + *e.Duration
				}
			}
			if len(open) > 0 {
				t.Errorf("these never end: %v", open)
			}
			if tr.OtherData["run"] != o.Run || tr.OtherData["verdict"] != o.Conclusion.Word {
				t.Errorf("%v", tr.OtherData)
			}
		})
	}
}

// What was never answered is on its thread all the same: until the history's end, or until its client goes on as another process.
func TestPerfettoOfACrash(t *testing.T) {
	golden(t, "testdata/crashed-holder.trace.json", written(t, Perfetto, crashedHolder()))
	var got []string
	for _, e := range traced(t, crashedHolder()).TraceEvents {
		if e.Phase == "X" && e.Args["result"] == "open" {
			got = append(got, fmt.Sprintf("%s %v+%v", e.Name, e.Time, *e.Duration))
		}
	}
	if want := []string{"extend open 3.45e+06+1.65e+06", "acquire open 2.5e+06+2.701e+06"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A stale write is seen: the hold, the pause, both writes with an arrow from their grants, and what was found.
func TestPerfettoOfAStaleWrite(t *testing.T) {
	golden(t, "testdata/stale-write.trace.json", written(t, Perfetto, staleWrite(nil)))
	has := func(e traceEvent) bool {
		return slices.ContainsFunc(traced(t, staleWrite(nil)).TraceEvents, func(x traceEvent) bool {
			return x.Name == e.Name && x.Phase == e.Phase && x.Time == e.Time && (e.ID == "" || x.ID == e.ID)
		})
	}
	for _, want := range []traceEvent{
		{Name: "c2", Phase: "b", Time: 12004e3, ID: "grant 41"},
		{Name: "c2", Phase: "e", Time: 15529e3, ID: "grant 41"},
		{Name: "pause c2 (SIGSTOP)", Phase: "b", Time: 12310e3},
		{Name: "pause c2 (SIGSTOP)", Phase: "e", Time: 15522e3},
		{Name: "write ok", Phase: "X", Time: 15522e3},
		{Name: "grant", Phase: "s", Time: 12003e3, ID: "41"},
		{Name: "grant", Phase: "f", Time: 15522.5e3, ID: "41"},
		{Name: "resource-safety: stale-write", Phase: "b", Time: 15523e3},
	} {
		if !has(want) {
			t.Errorf("%+v is missing", want)
		}
	}
	if err := Perfetto(nil, &runner.Outcome{Run: "7f3a"}); err == nil {
		t.Error("a run without a history has a trace")
	}
}
