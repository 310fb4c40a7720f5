//go:build integration

package controls

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

var hazardRuns = flag.Int("controls.hazards", 3, "runs of each scenario that expects a violation")

var guardRuns = flag.Int("controls.guards", 5, "runs of each that expects none")

// serversAtOnce is how many runs on whole clusters go on side by side.
const serversAtOnce = 2

// portableOn is the lock with which scenarios are run that name none.
const portableOn = "redis/single"

// fate is what became of the runs of a scenario.
type fate struct {
	name, expected string
	runs           int

	mu       sync.Mutex
	begun    int
	as       int
	acquires int // the fewest
	longest  time.Duration
}

// The known hazards of every server appear in every run, and the guards hold in every run.
func TestServers(t *testing.T) {
	var fates []*fate
	t.Cleanup(func() { t.Log(fatesTable(fates)) })
	t.Run("scenarios", func(t *testing.T) {
		room := make(chan struct{}, serversAtOnce)
		for _, name := range scenarios.List() {
			if strings.HasPrefix(name, "broken/") || strings.HasPrefix(name, "matrix/") || strings.HasPrefix(name, "kinds/") {
				continue // TestControls, make results, TestKinds
			}
			file, src, err := scenarios.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			s, problems := scenarios.Load(file, src, catalog.Names())
			if s == nil {
				t.Fatalf("%s: %v", name, problems)
			}
			f := &fate{name: name, runs: *guardRuns, expected: expectation(s)}
			if strings.Contains(f.expected, "violated") {
				f.runs = *hazardRuns
			}
			fates = append(fates, f)
			for n := range f.runs {
				t.Run(fmt.Sprintf("%s/%d", name, n+1), func(t *testing.T) {
					t.Parallel()
					room <- struct{}{}
					defer func() { <-room }()
					f.begin()
					o := one(t, file, src, uint64(n+1), settings(s)...)
					if !f.add(o) {
						t.Errorf("seed %d:\n%s", n+1, told(o))
					}
				})
			}
		}
	})
}

// settings name a lock for a scenario that has none.
func settings(s *scenarios.Scenario) []scenarios.Setting {
	if s.Lock.Use != "" {
		return nil
	}
	return []scenarios.Setting{{Flag: "--lock", Key: "lock.use", Value: portableOn}}
}

// expectation is all that isn't expected to be held.
func expectation(s *scenarios.Scenario) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(s.Expect)) {
		if e := s.Expect[name]; e.Verdict != "held" {
			parts = append(parts, name+" "+e.Verdict)
		}
	}
	if len(parts) == 0 {
		return "all held"
	}
	return strings.Join(parts, ", ")
}

func (f *fate) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun++
}

// add says whether the run ended as it was to.
func (f *fate) add(o *runner.Outcome) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	acquires := 0
	for _, op := range o.History.Ops {
		if op.F == history.Acquire && op.Type == history.OK {
			acquires++
		}
	}
	if f.longest == 0 || acquires < f.acquires {
		f.acquires = acquires
	}
	f.longest = max(f.longest, o.Elapsed)
	if o.Conclusion.Exit != runner.ExitOK {
		return false
	}
	f.as++
	return true
}

func fatesTable(fates []*fate) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\nscenario\tas expected\tfewest grants\tlongest run\texpected")
	for _, f := range fates {
		if f.begun == 0 {
			continue // -run left it out
		}
		fmt.Fprintf(w, "%s\t%d of %d\t%d\t%.1f s\t%s\n", f.name, f.as, f.begun, f.acquires, f.longest.Seconds(), f.expected)
	}
	w.Flush()
	return b.String()
}
