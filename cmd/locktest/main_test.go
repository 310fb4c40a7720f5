package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locktest/locktest/catalog"
)

// mainArg makes this test binary be the command: for tests that signal and kill it.
const mainArg = "LOCKTEST_TEST_MAIN"

func TestMain(m *testing.M) {
	if status, done := catalog.Main(os.Args); done {
		os.Exit(status)
	}
	if os.Getenv(mainArg) != "" {
		os.Exit(execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Unsetenv("GITHUB_ACTIONS") // its runners get more to read
	os.Exit(m.Run())
}

type result struct {
	status         int
	stdout, stderr string
}

func locktest(t *testing.T, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	status := execute(t.Context(), args, &out, &errs)
	return result{status, out.String(), errs.String()}
}

// scenario writes a scenario file with a short run.
func scenario(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.yaml")
	head := "version: 1\nname: test\nclients: { count: 3 }\nrun: { duration: 1500ms, warmup: 100ms, settle: 700ms, seed: 7 }\nevidence: { min-acquires: 5 }\n"
	if err := os.WriteFile(path, []byte(head+text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	clean = "lock: { use: memory/lease, ttl: 200ms }\nworkload: { use: counter, hold: 1ms..5ms, resource: checks-token }\n"
	// A pause that outlasts the lease, and a resource that takes the stale write.
	stale = "lock: { use: memory/mutex }\nworkload: { use: counter, hold: 1ms..5ms }\nexpect: { liveness: { verdict: violated, because: none } }\n"
)

func TestExitStatus(t *testing.T) {
	dir := t.TempDir()
	none := "LOCKTEST_REDIS_SERVER"
	for name, c := range map[string]struct {
		args []string
		env  string
		want int
		says string
	}{
		"all as expected":           {args: []string{"run", scenario(t, clean)}, want: 0, says: "NO VIOLATION FOUND"},
		"nothing was tested":        {args: []string{"run", scenario(t, clean), "--set", "evidence.min-acquires=100000"}, want: 2, says: "INCONCLUSIVE"},
		"a violation did not show":  {args: []string{"run", scenario(t, stale)}, want: 3, says: "EXPECTATION MISSED"},
		"a threshold was missed":    {args: []string{"run", scenario(t, clean), "--set", "thresholds={acquire.max: {max: 1us}}"}, want: 3},
		"no argument":               {args: []string{"run"}, want: 64},
		"the version":               {args: []string{"--version"}, want: 0, says: "locktest.result/1"},
		"no repeat":                 {args: []string{"run", "quickstart", "--repeat", "0"}, want: 64, says: "--repeat 0: expected 1 or more"},
		"a negative repeat":         {args: []string{"run", "quickstart", "--repeat", "-1"}, want: 64, says: "expected 1 or more"},
		"an unknown flag":           {args: []string{"run", "quickstart", "--colour"}, want: 64},
		"an unknown command":        {args: []string{"frob"}, want: 64},
		"an unknown scenario":       {args: []string{"run", "quikstart"}, want: 64, says: "quickstart"},
		"a wrong value of a flag":   {args: []string{"run", "quickstart", "--cross-check=maybe"}, want: 64},
		"a bad setting":             {args: []string{"run", "quickstart", "--set", "workload.use=counters"}, want: 64, says: `did you mean "counter"?`},
		"a portable scenario alone": {args: []string{"run", "contention"}, want: 65},
		"a server is missing":       {args: []string{"run", "quickstart", "--on", "process"}, env: none, want: 69, says: "LT101"},
		"no such run":               {args: []string{"check", "7f3a"}, want: 64},
		"not a history":             {args: []string{"check", scenario(t, clean)}, want: 65, says: "LT301"},
		"validate a good file":      {args: []string{"validate", "quickstart"}, want: 0},
		"validate a bad file":       {args: []string{"validate", "quickstart", "--set", "lock.ttl=2"}, want: 64, says: "unit"},
		"validate a wrong file":     {args: []string{"validate", scenario(t, "lock: { use: redis/singel }\n")}, want: 65},
		"a wrong file and flag":     {args: []string{"run", scenario(t, "lock: { use: redis/singel }\n"), "--seed", "abc"}, want: 65},
		"an unknown lock":           {args: []string{"run", "quickstart", "--lock", "redis/singel"}, want: 64, says: "redis/single"},
		"a seed that is none":       {args: []string{"run", "quickstart", "--seed", "abc"}, want: 64},
		"an unknown key":            {args: []string{"run", "quickstart", "--set", "lock.foo=1"}, want: 64},
	} {
		t.Run(name, func(t *testing.T) {
			if c.env != "" {
				t.Setenv(c.env, filepath.Join(dir, "nothing-here"))
			}
			if len(c.args) > 1 && c.args[0] != "validate" {
				c.args = append(c.args, "--run-dir", dir)
			}
			r := locktest(t, c.args...)
			if r.status != c.want {
				t.Errorf("status %d, want %d\n%s\n%s", r.status, c.want, r.stdout, r.stderr)
			}
			if !strings.Contains(r.stdout+r.stderr, c.says) {
				t.Errorf("it doesn't say %q:\n%s\n%s", c.says, r.stdout, r.stderr)
			}
		})
	}
}

// With --json standard output is one JSON document, whatever happens, and nothing on it is for a terminal.
func TestJSON(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		want int
	}{
		"one run":       {[]string{"run", scenario(t, clean), "--run-dir", dir}, 0},
		"two runs":      {[]string{"run", scenario(t, clean), "--repeat", "2", "--run-dir", dir}, 0},
		"inconclusive":  {[]string{"run", scenario(t, clean), "--run-dir", dir, "--set", "evidence.min-acquires=100000"}, 2},
		"bad scenario":  {[]string{"run", "quickstart", "--set", "lock.ttl=2"}, 64},
		"usage":         {[]string{"run"}, 64},
		"list":          {[]string{"list", "locks"}, 0},
		"version":       {[]string{"version"}, 0},
		"schema":        {[]string{"schema"}, 0},
		"validate":      {[]string{"validate", "quickstart"}, 0},
		"check nothing": {[]string{"check", "nope", "--run-dir", dir}, 64},
	} {
		t.Run(name, func(t *testing.T) {
			r := locktest(t, append(c.args, "--json")...)
			var doc map[string]any
			if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
				t.Fatalf("%v:\n%s", err, r.stdout)
			}
			if r.status != c.want {
				t.Errorf("status %d, want %d: %s", r.status, c.want, r.stderr)
			}
			if problems, _ := doc["problems"].([]any); name == "bad scenario" && len(problems) == 0 {
				t.Errorf("the problems of the scenario are not in the document: %s", r.stdout)
			}
			if exit, ok := doc["exit"]; ok && int(exit.(float64)) != r.status {
				t.Errorf("the document says %v, the status is %d", exit, r.status)
			}
			if strings.ContainsRune(r.stdout, '\x1b') {
				t.Error("an escape sequence is in the JSON")
			}
		})
	}
}

// A run's folder has what is needed to judge it again and to run it again.
func TestRunFolder(t *testing.T) {
	dir := t.TempDir()
	if r := locktest(t, "run", scenario(t, clean), "--run-dir", dir, "-q"); r.status != 0 {
		t.Fatalf("status %d\n%s", r.status, r.stderr)
	}
	latest := filepath.Join(dir, "latest")
	for _, name := range []string{"scenario.yaml", "scenario.resolved.yaml", "history.jsonl", "result.json", "env.json", "logs"} {
		if _, err := os.Stat(filepath.Join(latest, name)); err != nil {
			t.Error(err)
		}
	}
	if r := locktest(t, "check", "latest", "--run-dir", dir); r.status != 0 || !strings.Contains(r.stdout, "NO VIOLATION FOUND") {
		t.Errorf("check: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if r := locktest(t, "run", filepath.Join(latest, "scenario.resolved.yaml"), "--run-dir", dir, "-q"); r.status != 0 {
		t.Errorf("run again: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if r := locktest(t, "list", "runs", "--run-dir", dir); strings.Count(r.stdout, "-test-") != 2 {
		t.Errorf("list runs: %s", r.stdout)
	}
}

func TestTimeoutEndsARun(t *testing.T) {
	r := locktest(t, "run", scenario(t, clean), "--set", "run.duration=60s", "--timeout", "500ms", "--run-dir", t.TempDir())
	if r.status != 2 || !strings.Contains(r.stdout, "--timeout 500ms") {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
}

func TestCompletion(t *testing.T) {
	for _, args := range [][]string{{"__complete", "run", "quick"}, {"__complete", "run", "--lock", "redis/"}} {
		if r := locktest(t, args...); !strings.Contains(r.stdout, "quickstart") && !strings.Contains(r.stdout, "redis/single") {
			t.Errorf("%v: %s", args, r.stdout)
		}
	}
}

func TestDryRunStartsNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	r := locktest(t, "run", "redlock-partition", "--dry-run", "--run-dir", dir)
	if r.status != 0 || !strings.Contains(r.stdout, "redis/redlock") || !strings.Contains(r.stdout, "seed: 42") {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a dry run made a run's folder")
	}
}

func TestNoEscapesWithoutATerminal(t *testing.T) {
	t.Setenv("FORCE_COLOR", "")
	r := locktest(t, "run", scenario(t, clean), "--run-dir", t.TempDir())
	if strings.ContainsRune(r.stdout+r.stderr, '\x1b') {
		t.Error("an escape sequence is in the output")
	}
	if r := locktest(t, "run", scenario(t, clean), "--run-dir", t.TempDir(), "--color", "always"); !strings.ContainsRune(r.stdout, '\x1b') {
		t.Error("--color always has no effect")
	}
}
