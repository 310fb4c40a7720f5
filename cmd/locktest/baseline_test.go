package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locktest/locktest/baseline"
)

// everyone is a lock that grants to everyone, whatever chance does; expect says what of it is expected.
const everyone = "lock: { use: broken/everyone, ttl: 300ms }\ncluster: { kind: embedded }\nworkload: { use: counter, hold: 20ms..40ms, resource: checks-token }\n" +
	"expect: { resource-safety: any, fencing: any, ownership: any, liveness: any, mutual-exclusion/stale-holder: any }\n"

// The whole life of a known violation: it fails, is accepted with a reason, passes and is told, is resolved, and removed.
func TestBaseline(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "known.json")
	runs := filepath.Join(dir, "runs")
	bad, good := scenario(t, everyone), scenario(t, strings.Replace(everyone, "broken/everyone", "redis/single", 1))
	run := func(path string, more ...string) result {
		return locktest(t, append([]string{"run", path, "--run-dir", runs}, more...)...)
	}
	if r := run(bad); r.status != 1 {
		t.Fatalf("without a baseline: status %d\n%s\n%s", r.status, r.stdout, r.stderr)
	}
	if r := locktest(t, "baseline", "write", "--run-dir", runs, "--baseline", file); r.status != 64 || !strings.Contains(r.stderr, "--because") {
		t.Fatalf("without a reason: status %d, %s", r.status, r.stderr)
	}
	if r := locktest(t, "baseline", "write", "--run-dir", runs, "--baseline", file, "--because", "it is wrong on purpose", "--review", "2020-01-01"); r.status != 0 || !strings.Contains(r.stdout, "mutual-exclusion/double-grant") {
		t.Fatalf("write: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	f, err := baseline.Read(file)
	if err != nil || len(f.Accepted) != 1 || f.Accepted[0].Because != "it is wrong on purpose" || f.Accepted[0].Lock != "broken/everyone" {
		t.Fatalf("%v: %+v", err, f)
	}
	r := run(bad, "--baseline", file)
	if r.status != 0 || !strings.Contains(r.stdout, "NO NEW VIOLATION") || !strings.Contains(r.stdout, "ongoing  "+f.Accepted[0].ID) {
		t.Errorf("known: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if !strings.Contains(r.stderr, "was to be reviewed by 2020-01-01") {
		t.Errorf("nobody is reminded: %s", r.stderr)
	}
	if r := locktest(t, "check", "latest", "--run-dir", runs, "--baseline", file, "-q"); r.status != 0 {
		t.Errorf("check: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if r := run(bad, "--baseline", "none"); r.status != 1 {
		t.Errorf("none: status %d", r.status)
	}

	// Another violation than the known one is new, and that one resolved.
	f.Accepted[0].Property = "mutual-exclusion/stale-holder"
	f.Accepted[0].ID = f.Accepted[0].Signature.ID()
	other := filepath.Join(dir, "other.json")
	if err := f.Write(other); err != nil {
		t.Fatal(err)
	}
	if r := run(bad, "--baseline", other); r.status != 1 || !strings.Contains(r.stdout, "  new  ") {
		t.Errorf("another is known: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}

	// The same scenario with the right lock, as if the lock had been mended.
	f.Accepted[0].Lock, f.Accepted[0].Property = "redis/single", "mutual-exclusion/double-grant"
	f.Accepted[0].ID = f.Accepted[0].Signature.ID()
	if err := f.Write(other); err != nil {
		t.Fatal(err)
	}
	r = run(good, "--baseline", other, "--json")
	var doc struct{ Baseline baseline.Comparison }
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || r.status != 0 || len(doc.Baseline.Resolved) != 1 {
		t.Fatalf("mended: status %d, %v\n%s%s", r.status, err, r.stdout, r.stderr)
	}
	if r := locktest(t, "baseline", "prune", "latest", "--run-dir", runs, "--baseline", other); r.status != 0 || !strings.Contains(r.stdout, "1 removed") {
		t.Errorf("prune: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if r := locktest(t, "baseline", "show", "--baseline", other); r.status != 0 || !strings.Contains(r.stdout, "0 accepted") {
		t.Errorf("show: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
}

func TestBaselineMistakes(t *testing.T) {
	bad := file(t, "bad.json", `{"schema": "locktest.baseline/1", "accepted": [{"property": "fencing/token-reuse", "fault": "none"}]}`)
	empty := file(t, "empty.json", `{"schema": "locktest.baseline/1", "accepted": []}`)
	log := broken(t)
	for name, c := range map[string]struct {
		args []string
		want int
		says string
	}{
		"the file is missing":   {append([]string{"check", "--baseline", "/nowhere/b.json"}, log...), 64, "/nowhere/b.json"},
		"the file is wrong":     {append([]string{"check", "--baseline", bad}, log...), 65, "LT302"},
		"show a wrong one":      {[]string{"baseline", "show", "--baseline", bad}, 65, "because is missing"},
		"show a missing one":    {[]string{"baseline", "show", "--baseline", "/nowhere/b.json"}, 64, "/nowhere"},
		"prune an unknown id":   {[]string{"baseline", "prune", "--baseline", empty, "--id", "12345678"}, 64, "no entry 12345678"},
		"prune with no runs":    {[]string{"baseline", "prune", "--baseline", empty, "--run-dir", t.TempDir()}, 64, "latest"},
		"a day that is none":    {[]string{"baseline", "write", "--because", "b", "--review", "soon"}, 64, "soon"},
		"an empty one is valid": {append([]string{"check", "--baseline", empty}, log...), 1, "new"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := locktest(t, c.args...); r.status != c.want || !strings.Contains(r.stdout+r.stderr, c.says) {
				t.Errorf("status %d, want %d and %q\n%s%s", r.status, c.want, c.says, r.stdout, r.stderr)
			}
		})
	}
}

// The file that lies in the folder is taken by itself.
func TestBaselineByDefault(t *testing.T) {
	log := broken(t)
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile(baseline.DefaultFile, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := locktest(t, append([]string{"check"}, log...)...); r.status != 65 {
		t.Errorf("status %d\n%s", r.status, r.stderr)
	}
	if r := locktest(t, append([]string{"check", "--baseline", "none"}, log...)...); r.status != 1 {
		t.Errorf("none: status %d\n%s", r.status, r.stderr)
	}
}

// latest means all runs of the last command, and no other's: what only the first repeat has seen is accepted too. Where there is
// nothing to accept it says why.
func TestBaselineOfAllRepeats(t *testing.T) {
	dir := t.TempDir()
	known, runs := filepath.Join(dir, "known.json"), filepath.Join(dir, "runs")
	write := func() result {
		return locktest(t, "baseline", "write", "latest", "--run-dir", runs, "--baseline", known, "--because", "b")
	}
	bad, good := scenario(t, everyone), scenario(t, clean)
	if r := locktest(t, "run", bad, good, "--run-dir", runs, "-q"); r.status != 1 {
		t.Fatalf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if r := locktest(t, "run", good, "--repeat", "2", "--run-dir", runs, "-q"); r.status != 0 {
		t.Fatalf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if r := write(); r.status != 0 || !strings.Contains(r.stdout, "0 accepted") || !strings.Contains(r.stderr, "there is nothing to accept: 2 runs found no violation") {
		t.Errorf("nothing to accept: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	all, err := listRuns(runs)
	if err != nil || len(all) != 4 {
		t.Fatal(all, err)
	}
	first := with(filepath.Join(runs, all[0]))
	for i, r := range all {
		if got := with(filepath.Join(runs, r)); (got == first) != (i < 2) {
			t.Errorf("%s was made with %q, the first with %q", r, got, first)
		}
	}
	for _, r := range all[2:] {
		if err := os.RemoveAll(filepath.Join(runs, r)); err != nil {
			t.Fatal(err)
		}
	}
	if r := write(); r.status != 0 || !strings.Contains(r.stdout, "mutual-exclusion/double-grant") {
		t.Errorf("seen in the first of two runs: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if r := write(); r.status != 0 || !strings.Contains(r.stderr, "is in "+known+" already") {
		t.Errorf("accepted already: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
}
