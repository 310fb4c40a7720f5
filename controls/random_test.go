//go:build integration

package controls

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// randomLock is a lock on whose server everything goes wrong that can.
type randomLock struct {
	name, cluster string
	guarded       bool // nothing that is done here may make it grant twice, but for ending its sessions
}

func randomLocks() []randomLock {
	return []randomLock{
		{"redis/replicated", "{ nodes: 3, persistence: aof-everysec }", false}, // replication is asynchronous, and clocks end leases
		{"postgres/advisory", "{ nodes: 2 }", false},                           // a failover forgets every lock
		{"etcd/lease", "{ nodes: 3 }", true},
		{"zookeeper/ephemeral", "{ nodes: 3 }", true},
	}
}

// The seeds of each lock, and how long a run may take altogether.
const (
	randomSeeds = 3
	randomLimit = 5 * time.Minute
)

const randomScenario = `version: 1
name: random-servers
lock: { use: %s, ttl: 1s }
cluster: %s
clients: { count: 4 }
workload: { use: counter, hold: 10ms..80ms, wait: 1s }
run: { duration: 60s, warmup: 1s, settle: 8s }
faults:
  - { every: 1500ms..3s, for: 300ms..2s, random: { of: [%s], on: clients } }
  - { every: 3s..5s, for: 500ms..4s, random: { of: [%s], on: nodes } }
expect: { %s }
evidence: { min-acquires: 50, min-hits: 5 }
`

// chance is one run.
type chance struct {
	lock                    string
	seed                    int
	began, missed           int
	grants                  int
	violated, undecided     []string
	elapsed                 time.Duration
	ended                   []time.Duration // when sessions were ended by the servers
	onClients, onNodes, not []string        // the kinds that were possible, and those that weren't
}

// Whatever goes wrong by chance on real servers, no run hangs, every fault is healed, nothing is left, and there are verdicts.
func TestRandomServers(t *testing.T) {
	var rows []*chance
	t.Cleanup(func() { t.Log(chancesTable(rows)) })
	for _, l := range randomLocks() {
		for seed := 1; seed <= randomSeeds; seed++ {
			t.Run(fmt.Sprintf("%s/%d", l.name, seed), func(t *testing.T) {
				c := &chance{lock: l.name, seed: seed}
				rows = append(rows, c)
				c.run(t, l)
			})
		}
	}
}

func (c *chance) run(t *testing.T, l randomLock) {
	root := filepath.Join(t.TempDir(), "runs")
	tmp, err := os.MkdirTemp("", "random-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(tmp) })
	must(t, os.Chmod(tmp, 0o755)) // some servers run as nobody
	t.Setenv("TMPDIR", tmp)
	c.onClients, c.onNodes = c.possible(t, l, "clients"), c.possible(t, l, "nodes")
	plan := resolve(t, c.source(l, c.onClients, c.onNodes), uint64(c.seed))
	ctx, cancel := context.WithTimeout(t.Context(), randomLimit)
	defer cancel()
	o, err := runner.Run(ctx, plan, runner.Options{Root: root, Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	if ctx.Err() != nil {
		t.Errorf("it did not end within %v", randomLimit)
	}
	c.judge(t, l, o)
	left(t, tmp)
}

func (c *chance) source(l randomLock, onClients, onNodes []string) []byte {
	var expect []string
	for _, p := range slices.Sorted(maps.Keys(catalog.Names().Properties)) {
		expect = append(expect, p+": any")
	}
	return fmt.Appendf(nil, randomScenario, l.name, l.cluster, strings.Join(onClients, ", "), strings.Join(onNodes, ", "), strings.Join(expect, ", "))
}

// possible are the kinds that can be brought about on all of one sort; the others are told.
func (c *chance) possible(t *testing.T, l randomLock, on string) []string {
	t.Helper()
	word := map[string]string{"clients": scenarios.NamedClient, "nodes": scenarios.NamedNode}[on]
	var out []string
	for _, kind := range slices.Sorted(maps.Keys(catalog.Names().Faults)) {
		f := catalog.Names().Faults[kind]
		if f.Kinds || !slices.Contains(f.Targets, word) {
			continue
		}
		src := c.source(l, []string{"pause"}, []string{"pause"})
		src = bytes.Replace(src, []byte("of: [pause], on: "+on), []byte("of: ["+kind+"], on: "+on), 1)
		s, problems := scenarios.Load("random", src, catalog.Names())
		if s == nil {
			t.Fatalf("%s on %s: %v", kind, on, problems)
		}
		_, err := catalog.Resolve(s, src, catalog.ResolveOptions{Self: catalog.Self()})
		var power *runner.PowerError
		switch {
		case errors.As(err, &power):
			c.not = append(c.not, kind+" on "+on)
		case err != nil:
			t.Fatalf("%s on %s: %v", kind, on, err)
		default:
			out = append(out, kind)
		}
	}
	return out
}

func resolve(t *testing.T, src []byte, seed uint64) *runner.Plan {
	t.Helper()
	s, problems := scenarios.Load("random", src, catalog.Names(), scenarios.Setting{Flag: "seed", Key: "run.seed", Value: fmt.Sprint(seed)})
	if s == nil {
		t.Fatal(problems)
	}
	plan, err := catalog.Resolve(s, src, catalog.ResolveOptions{CrossCheck: true, Self: catalog.Self()})
	must(t, err)
	return plan
}

func (c *chance) judge(t *testing.T, l randomLock, o *runner.Outcome) {
	t.Helper()
	open := map[int]string{}
	for _, op := range o.History.Ops {
		switch {
		case op.Type == history.FaultBegin:
			c.began++
			open[op.Process] = op.Text
			if strings.HasPrefix(op.Text, "end the sessions") {
				c.ended = append(c.ended, op.Time)
			}
		case op.Type == history.FaultEnd:
			delete(open, op.Process)
		case op.Type == history.FaultMissed:
			c.missed++
		case op.F == history.Acquire && op.Type == history.OK:
			c.grants++
		}
	}
	c.elapsed = o.Elapsed
	if c.began < 20 || c.grants < 50 {
		t.Errorf("%d faults, %d grants: that tests little", c.began, c.grants)
	}
	if len(open) > 0 {
		t.Errorf("not healed: %v", open)
	}
	for _, a := range o.CrossCheck {
		if a.Disagrees() {
			t.Errorf("the engines disagree: %+v", a)
		}
	}
	for _, r := range o.Results {
		c.result(t, l, r)
	}
	if t.Failed() {
		t.Log(told(o))
	}
}

func (c *chance) result(t *testing.T, l randomLock, r checker.Result) {
	t.Helper()
	switch r.Verdict {
	case checker.Violated:
		c.violated = append(c.violated, r.Property)
		if len(r.Findings) == 0 {
			t.Errorf("%s is violated, and nothing shows it", r.Property)
		}
	case checker.Inconclusive:
		c.undecided = append(c.undecided, r.Property)
		if r.Why == "" {
			t.Errorf("%s is inconclusive, and nothing says why", r.Property)
		}
	}
	for _, f := range r.Findings {
		if l.guarded && f.Kind == checker.DoubleGrant && r.Verdict == checker.Violated && !c.lately(f.At) {
			t.Errorf("%s granted twice: %s", l.name, f.Message)
		}
	}
}

// endedFor is how long a holder may go on that wasn't told of its session's end.
const endedFor = 2 * time.Second

// lately says whether servers had ended sessions shortly before.
func (c *chance) lately(at time.Duration) bool {
	return slices.ContainsFunc(c.ended, func(ended time.Duration) bool { return ended <= at && at <= ended+endedFor })
}

// left wants no process, disk or folder of a run: all that it started had that folder for temporary files.
func left(t *testing.T, tmp string) {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	must(t, err)
	for _, path := range environs {
		b, err := os.ReadFile(path)
		if err != nil || filepath.Base(filepath.Dir(path)) == fmt.Sprint(os.Getpid()) {
			continue // it has ended, or is this one
		}
		if slices.Contains(strings.Split(string(b), "\x00"), "TMPDIR="+tmp) {
			command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			t.Errorf("left: process %s: %q", filepath.Dir(path), command)
		}
	}
	table, err := os.ReadFile("/proc/self/mounts")
	must(t, err)
	if strings.Contains(string(table), tmp) {
		t.Errorf("left: something is mounted below %s", tmp)
	}
	entries, err := os.ReadDir(tmp)
	must(t, err)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "locktest-ports-") {
			t.Errorf("left: %s", e.Name())
		}
	}
}

func chancesTable(rows []*chance) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\nlock\tseed\tfaults\tmissed\tgrants\ttook\tviolated\tinconclusive")
	for _, c := range rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.1f s\t%s\t%s\n", c.lock, c.seed, c.began, c.missed, c.grants, c.elapsed.Seconds(), strings.Join(c.violated, ", "), strings.Join(c.undecided, ", "))
	}
	w.Flush()
	for _, c := range rows {
		if c.seed == 1 {
			fmt.Fprintf(&b, "%s: on clients %s; on nodes %s; not possible: %s\n", c.lock, strings.Join(c.onClients, ", "), strings.Join(c.onNodes, ", "), strings.Join(c.not, ", "))
		}
	}
	return b.String()
}
