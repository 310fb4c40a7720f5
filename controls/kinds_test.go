//go:build integration

package controls

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// kindRow is what the runs of one lock of a kind came to.
type kindRow struct {
	scenario, lock string
	runs           int
	number         string // of property: the figure that the kind is about
	property       string
	least, most    float64 // it has to be within these
	settings       []scenarios.Setting

	mu              sync.Mutex
	begun, held     int
	lowest, highest float64
}

// kindRows: a semaphore's permits are all there at the end, readers share, and those who died in a queue delay nobody for
// longer than they are believed to live.
func kindRows() []*kindRow {
	var rows []*kindRow
	for _, lock := range []string{"redis/semaphore", "zookeeper/semaphore"} {
		rows = append(rows, &kindRow{scenario: "kinds/semaphore", lock: lock, runs: 10, property: checker.Permits, number: "holds", least: 20, most: 1e9})
	}
	for _, lock := range []string{"redis/rwlock", "etcd/rwlock", "zookeeper/rwlock", "postgres/advisory-shared"} {
		r := &kindRow{scenario: "kinds/readers", lock: lock, runs: 5, property: checker.ReadWrite, number: "readers_at_once", least: 2, most: 6}
		if lock == "postgres/advisory-shared" { // it has no tokens
			r.settings = []scenarios.Setting{{Flag: "--set", Key: "workload.resource", Value: "ignores-token"}}
		}
		rows = append(rows, r)
	}
	return append(rows, &kindRow{scenario: "kinds/fair", lock: "redis/fair", runs: 5, property: checker.Liveness, number: "longest_idle_s", least: 0, most: 1})
}

// TestKinds runs locks that are no plain mutex under faults, many times, two at once.
func TestKinds(t *testing.T) {
	rows := kindRows()
	t.Cleanup(func() { t.Log(kindsTable(rows)) })
	t.Run("runs", func(t *testing.T) {
		room := make(chan struct{}, serversAtOnce)
		for _, r := range rows {
			file, src, err := scenarios.Find(r.scenario)
			if err != nil {
				t.Fatal(err)
			}
			for n := range r.runs {
				t.Run(fmt.Sprintf("%s/%d", r.lock, n+1), func(t *testing.T) {
					t.Parallel()
					room <- struct{}{}
					defer func() { <-room }()
					o := one(t, file, src, uint64(n+1), append([]scenarios.Setting{{Flag: "--lock", Key: "lock.use", Value: r.lock}}, r.settings...)...)
					if !r.add(o) {
						t.Errorf("seed %d, with %s from %g to %g:\n%s", n+1, r.number, r.least, r.most, told(o))
					}
				})
			}
		}
	})
}

// add says whether the run was as expected, and its number within bounds.
func (r *kindRow) add(o *runner.Outcome) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun++
	number := -1.0
	for _, res := range o.Results {
		if n, ok := res.Numbers[r.number]; ok && res.Property == r.property {
			number = n
		}
	}
	if r.begun == 1 {
		r.lowest, r.highest = number, number
	}
	r.lowest, r.highest = min(r.lowest, number), max(r.highest, number)
	if o.Conclusion.Exit != runner.ExitOK || number < r.least || number > r.most {
		return false
	}
	r.held++
	return true
}

func kindsTable(rows []*kindRow) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\nlock\tscenario\tas expected\tfigure\tlowest\thighest")
	for _, r := range rows {
		if r.begun > 0 { // -run may leave some out
			fmt.Fprintf(w, "%s\t%s\t%d of %d\t%s %s\t%.3g\t%.3g\n", r.lock, r.scenario, r.held, r.begun, r.property, r.number, r.lowest, r.highest)
		}
	}
	w.Flush()
	return b.String()
}
