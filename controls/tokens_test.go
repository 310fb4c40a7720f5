//go:build integration

package controls

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

var tokenRuns = flag.Int("controls.tokens", 5, "runs of each lock with tokens under each scenario of the matrix")

// forgets says where a lock's store loses its state, the last token included, and why.
var forgets = map[string]string{
	"redis/single node-restarted-empty":   "the only server comes back without its data, and counts tokens from the start",
	"postgres/lease node-restarted-empty": "the only server comes back without its data, and counts tokens from the start",
	"postgres/lease failover":             "the replica that becomes the primary had not got the last grants, and the old primary goes on granting",
}

// leastRows is how much of the matrix there is for the four locks, less what not every machine can do, such as changing clocks.
const leastRows = 40

// tokenRow is what the runs of one lock under one scenario came to.
type tokenRow struct {
	lock, scenario string
	because        string // the store lost its state

	mu        sync.Mutex
	begun, as int
	refused   int // writes, because of their token
	fencing   []checker.Verdict
}

// TestTokens runs locks with tokens under the whole matrix, while the resource checks them: resource safety and fencing hold,
// whatever becomes of the lock, but where its store forgot what the tokens were; there fencing is seen to break.
func TestTokens(t *testing.T) {
	var rows []*tokenRow
	t.Cleanup(func() { t.Log(tokensTable(rows)) })
	t.Run("runs", func(t *testing.T) {
		room := make(chan struct{}, serversAtOnce)
		for _, lock := range []string{"etcd/lease", "zookeeper/ephemeral", "redis/single", "postgres/lease"} {
			for _, name := range scenarios.List() {
				short, ok := strings.CutPrefix(name, "matrix/")
				if !ok {
					continue
				}
				file, src, err := scenarios.Find(name)
				if err != nil {
					t.Fatal(err)
				}
				because := forgets[lock+" "+short]
				given := checkedBy(lock, because)
				if lock == "postgres/lease" && short == "failover" {
					given = append(given, scenarios.Setting{Flag: "--set", Key: "cluster.nodes", Value: "2"})
				}
				if !applies(t, file, src, given) {
					continue // the servers have no leader, no majority
				}
				r := &tokenRow{lock: lock, scenario: short, because: because}
				rows = append(rows, r)
				for n := range *tokenRuns {
					t.Run(fmt.Sprintf("%s/%s/%d", lock, short, n+1), func(t *testing.T) {
						t.Parallel()
						room <- struct{}{}
						defer func() { <-room }()
						if o := one(t, file, src, uint64(n+1), given...); !r.add(o) {
							t.Errorf("seed %d:\n%s", n+1, told(o))
						}
					})
				}
			}
		}
		if len(rows) < leastRows {
			t.Errorf("%d rows: want at least %d", len(rows), leastRows)
		}
	})
}

// checkedBy are the settings with which lock's tokens are checked at the resource.
func checkedBy(lock, because string) []scenarios.Setting {
	expect := "{ resource-safety: held, fencing: held, mutual-exclusion: any, ownership: any, liveness: any, coverage: any }"
	if because != "" {
		expect = fmt.Sprintf("{ fencing: { verdict: violated, because: %q }, resource-safety: any, mutual-exclusion: any, ownership: any, liveness: any, hygiene: any, coverage: any }", because)
	}
	return []scenarios.Setting{
		{Flag: "--lock", Key: "lock.use", Value: lock},
		{Flag: "--set", Key: "workload.resource", Value: "checks-token"},
		{Flag: "--set", Key: "expect", Value: expect},
	}
}

// noMajority is said of a scenario that is about a part of the servers, where there is one server.
var noMajority = regexp.MustCompile(`^(majority|minority) of 1 node does not exist$`)

// applies says whether the lock's servers can be put to a scenario. Whatever else keeps it from being run is a mistake here.
func applies(t *testing.T, file string, src []byte, given []scenarios.Setting) bool {
	t.Helper()
	s, problems := scenarios.Load(file, src, catalog.Names(), given...)
	if s == nil {
		if slices.ContainsFunc(problems.Errors(), func(p scenarios.Problem) bool { return !noMajority.MatchString(p.Message) }) {
			t.Fatal(problems)
		}
		return false
	}
	_, err := catalog.Resolve(s, src, catalog.ResolveOptions{Self: catalog.Self()})
	var power *runner.PowerError
	if err != nil && !errors.As(err, &power) {
		t.Fatalf("%s: %v", file, err)
	}
	return err == nil
}

func (r *tokenRow) add(o *runner.Outcome) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun++
	for _, res := range o.Results {
		switch res.Property {
		case checker.ResourceSafety:
			r.refused += int(res.Numbers["refused_writes"])
		case checker.Fencing:
			r.fencing = append(r.fencing, res.Verdict)
		}
	}
	if o.Conclusion.Exit != runner.ExitOK {
		return false
	}
	r.as++
	return true
}

func tokensTable(rows []*tokenRow) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\nlock\tscenario\tas expected\twrites refused\tfencing\texpected because")
	for _, r := range rows {
		if r.begun == 0 {
			continue // -run left it out
		}
		slices.Sort(r.fencing)
		fmt.Fprintf(w, "%s\t%s\t%d of %d\t%d\t%v\t%s\n", r.lock, r.scenario, r.as, r.begun, r.refused, slices.Compact(r.fencing), r.because)
	}
	w.Flush()
	return b.String()
}
