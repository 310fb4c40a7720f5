package controls

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/reports"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// How much is run. The defaults are for a plain `go test`.
type amounts struct {
	runs       *int // of each broken lock
	seeds      *int // of each memory control
	contention *int // runs of redis/single in contention
}

func flags() amounts {
	return amounts{
		flag.Int("controls.runs", 1, "runs of each broken lock, with seeds that count up"),
		flag.Int("controls.seeds", 4, "seeds of each memory control"),
		flag.Int("controls.contention", 1, "runs of redis/single in contention"),
	}
}

var amount amounts

func TestMain(m *testing.M) {
	if status, done := catalog.Main(os.Args); done {
		os.Exit(status)
	}
	amount = flags()
	flag.Parse()
	os.Exit(m.Run())
}

// atOnce is how many runs go on side by side.
const atOnce = 4

// firstSeed of everything here; the seed of the n-th run is firstSeed + n.
const firstSeed = 1000

// one runs a scenario and returns what became of it.
func one(t *testing.T, file string, src []byte, seed uint64, settings ...scenarios.Setting) *runner.Outcome {
	t.Helper()
	settings = append(settings, scenarios.Setting{Flag: "seed", Key: "run.seed", Value: fmt.Sprint(seed)})
	s, problems := scenarios.Load(file, src, catalog.Names(), settings...)
	if s == nil {
		var b strings.Builder
		scenarios.Render(&b, problems, false)
		t.Fatalf("%s:\n%s", file, b.String())
	}
	plan, err := catalog.Resolve(s, src, catalog.ResolveOptions{CrossCheck: true, Self: catalog.Self()})
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if plan.Kind == "embedded" && !plan.Real {
		t.Fatalf("%s: redis-server was not found: make deps", file)
	}
	o, err := runner.Run(context.Background(), plan, runner.Options{Root: filepath.Join(t.TempDir(), "runs"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatalf("%s with seed %d: %v", file, seed, err)
	}
	for _, a := range o.CrossCheck {
		if a.Disagrees() {
			t.Errorf("%s with seed %d: the engines disagree: %+v", file, seed, a)
		}
	}
	return o
}

// told is the screen of a run, for a failure.
func told(o *runner.Outcome) string {
	var b strings.Builder
	if err := reports.Text(reports.Style{})(&b, o); err != nil {
		return err.Error()
	}
	return b.String()
}

// side runs jobs, atOnce at a time.
func side(n int, job func(i int)) {
	var wg sync.WaitGroup
	room := make(chan struct{}, atOnce)
	for i := range n {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			job(i)
		})
	}
	wg.Wait()
}

// row is a line of the table.
type row struct {
	mu                 sync.Mutex
	lock, caught       string
	found, clean, runs int
	also               []string
	longest            time.Duration
}

func TestControls(t *testing.T) {
	var rows []*row
	t.Cleanup(func() { t.Log(table(rows)) })
	t.Run("broken", func(t *testing.T) {
		room := make(chan struct{}, atOnce)
		for _, m := range mistakes() {
			r := &row{lock: m.name, caught: m.caught}
			rows = append(rows, r)
			for n := range *amount.runs {
				t.Run(fmt.Sprintf("%s/%d", strings.TrimPrefix(m.name, "broken/"), n+1), func(t *testing.T) {
					t.Parallel()
					room <- struct{}{}
					defer func() { <-room }()
					control(t, m, r, firstSeed+uint64(n))
				})
			}
		}
	})
}

// mistake is a broken lock, or a mode of a right one.
type mistake struct {
	name, caught, reference string
	right                   []scenarios.Setting // what makes its scenario right
}

func mistakes() []mistake {
	var out []mistake
	for _, l := range catalog.Locks() {
		if l.Broken() {
			right := []scenarios.Setting{{Flag: "reference", Key: "lock.use", Value: l.Reference}}
			if l.RightWith != "" {
				right = append(right, scenarios.Setting{Flag: "reference", Key: "lock.options", Value: l.RightWith})
			}
			out = append(out, mistake{l.Name, l.Caught, l.Reference, right})
		}
	}
	for _, m := range catalog.Modes() {
		out = append(out, mistake{m.Name, m.Caught, m.Key + ": " + m.Right, []scenarios.Setting{{Flag: "reference", Key: m.Key, Value: m.Right}}})
	}
	return out
}

// control runs a broken lock, which has to be caught as its scenario says, and then the right one, which has to be clean.
func control(t *testing.T, m mistake, r *row, seed uint64) {
	file, src, err := scenarios.Find(m.name)
	if err != nil {
		t.Fatal(err)
	}
	o := one(t, file, src, seed)
	if o.Conclusion.Exit != 0 || !expects(o, m.caught) {
		t.Errorf("%s with seed %d is not caught by %s and nothing else:\n%s", m.name, seed, m.caught, told(o))
	}
	if m.caught == checker.MutualExclusion && !granted(o) {
		t.Errorf("%s with seed %d is caught only by what every lease allows:\n%s", m.name, seed, told(o))
	}
	expect := "{mutual-exclusion/stale-holder: any}"
	if strings.Contains(string(src), "message:") { // which the right lock may never send
		expect = "{mutual-exclusion/stale-holder: any, coverage: any}"
	}
	if strings.Contains(string(src), "store:") { // which may be slow to answer, and keeps its holder then
		expect = "{mutual-exclusion/stale-holder: any, hygiene: any}"
	}
	right := one(t, file, src, seed, append(slices.Clone(m.right), scenarios.Setting{Flag: "reference", Key: "expect", Value: expect})...)
	if right.Conclusion.Exit != 0 {
		t.Errorf("%s with seed %d is not clean in the scenario of %s:\n%s", m.reference, seed, m.name, told(right))
	}
	r.add(o, m.caught, right)
}

// granted says whether two were granted the lock at once, which a right lock never does.
func granted(o *runner.Outcome) bool {
	return slices.ContainsFunc(o.Results, func(r checker.Result) bool {
		return r.Property == checker.MutualExclusion && (r.Kinds == nil && r.Verdict == checker.Violated || r.Kinds[checker.DoubleGrant] == checker.Violated)
	})
}

// expects says whether the property was violated, and expected to be.
func expects(o *runner.Outcome, property string) bool {
	return slices.ContainsFunc(o.Conclusion.Expected, func(c runner.Condition) bool { return c.Property == property })
}

func (r *row) add(o *runner.Outcome, caught string, right *runner.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs++
	r.longest = max(r.longest, o.Elapsed)
	if expects(o, caught) {
		r.found++
	}
	if right.Conclusion.Exit == 0 {
		r.clean++
	}
	for _, res := range o.Results {
		if res.Verdict == checker.Violated && res.Property != caught && !slices.Contains(r.also, res.Property) {
			r.also = append(r.also, res.Property)
		}
	}
}

func table(rows []*row) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\nlock\tcaught by\tfound\tright lock clean\tconsequences seen\tlongest run")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%d of %d\t%d of %d\t%s\t%.1f s\n", r.lock, r.caught, r.found, r.runs, r.clean, r.runs, strings.Join(r.also, ", "), r.longest.Seconds())
	}
	w.Flush()
	return b.String()
}

// The memory locks are never accused, whatever is done to their clients.
func TestMemoryControls(t *testing.T) {
	for name, src := range map[string]string{
		"mutex in contention": `
lock: { use: memory/mutex }
workload: { use: counter, hold: 0ms..4ms, resource: checks-token }
`,
		"lease in contention": `
lock: { use: memory/lease, ttl: 300ms }
workload: { use: counter, hold: 0ms..20ms, resource: checks-token }
`,
		"lease under pauses and kills": `
lock: { use: memory/lease, ttl: 150ms }
workload: { use: counter, hold: 5ms..30ms, extend: 20ms, resource: checks-token }
faults:
  - { on: acquired, after: 1ms..10ms, chance: 20%, limit: 3, for: 160ms..300ms, pause: holder }
  - { on: acquired, after: 1ms..10ms, chance: 20%, limit: 3, for: 50ms..100ms, kill: holder }
expect: { mutual-exclusion/stale-holder: any }
`,
	} {
		t.Run(name, func(t *testing.T) {
			head := "version: 1\nname: memory-control\nclients: { count: 4 }\nrun: { duration: 2s, warmup: 100ms, settle: 700ms }\nevidence: { min-acquires: 10 }\n"
			var mu sync.Mutex
			held := 0
			side(*amount.seeds, func(i int) {
				o := one(t, name, []byte(head+src), firstSeed+uint64(i))
				mu.Lock()
				defer mu.Unlock()
				if o.Conclusion.Exit == 0 {
					held++
					return
				}
				t.Errorf("seed %d:\n%s", firstSeed+i, told(o))
			})
			t.Logf("%s: all held or not applicable in %d of %d seeds", name, held, *amount.seeds)
		})
	}
}

// redis/single on a real server in plain contention is never accused.
func TestContentionControls(t *testing.T) {
	file, src, err := scenarios.Find("contention")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	held := 0
	side(*amount.contention, func(i int) {
		o := one(t, file, src, firstSeed+uint64(i), scenarios.Setting{Flag: "control", Key: "lock.use", Value: "redis/single"})
		mu.Lock()
		defer mu.Unlock()
		if o.Conclusion.Exit == 0 {
			held++
			return
		}
		t.Errorf("seed %d:\n%s", firstSeed+i, told(o))
	})
	t.Logf("redis/single in contention: all held or not applicable in %d of %d runs", held, *amount.contention)
}
