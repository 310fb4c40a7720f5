package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/runner"
)

// broken is a history that violates mutual exclusion, as arguments of check.
func broken(t *testing.T) []string {
	t.Helper()
	return []string{file(t, "locks.log", overlap), "--expiry", "lease", "--ttl", "2s"}
}

func TestGateStatus(t *testing.T) {
	dir := t.TempDir()
	log := broken(t)
	inconclusive := []string{"run", scenario(t, clean), "--set", "evidence.min-acquires=100000", "--run-dir", dir}
	slow := []string{"run", scenario(t, clean), "--set", "thresholds={acquire.max: {max: 1us}}", "--run-dir", dir}
	check := func(more ...string) []string { return append(append([]string{"check"}, log...), more...) }
	for name, c := range map[string]struct {
		args []string
		want int
	}{
		"a violation":                               {check(), 1},
		"a violation that doesn't fail":             {check("--fail-on", "inconclusive,expectation,threshold"), 0},
		"a violation, to bisect":                    {check("--exit-code", "bisect"), 1},
		"inconclusive":                              {inconclusive, 2},
		"inconclusive doesn't fail":                 {append(inconclusive, "--fail-on", "violated"), 0},
		"inconclusive, to bisect":                   {append(inconclusive, "--exit-code=bisect"), 125},
		"a threshold":                               {slow, 3},
		"a threshold doesn't fail":                  {append(slow, "--fail-on=violated,inconclusive"), 0},
		"an unknown condition":                      {check("--fail-on", "violation"), 64},
		"an unknown way of exit codes":              {check("--exit-code", "plain"), 64},
		"a bad scenario, to bisect":                 {[]string{"run", "quickstart", "--set", "lock.ttl=2", "--exit-code", "bisect"}, 125},
		"an unknown flag, to bisect":                {[]string{"run", "quickstart", "--colour", "--exit-code", "bisect"}, 125},
		"an unknown kind of report":                 {check("-o", "pdf=x.pdf"), 64},
		"a report without a path":                   {check("-o", "junit"), 64},
		"two reports in one file":                   {check("-o", "junit=x", "-o", "md=x"), 64},
		"a report on standard output beside JSON":   {check("-o", "junit=-", "--json"), 64},
		"a signal, to bisect, is no commit's fault": {nil, 143},
	} {
		t.Run(name, func(t *testing.T) {
			if c.args == nil {
				if got := (&app{bisect: true}).coded(exitTerminate); got != c.want {
					t.Errorf("status %d", got)
				}
				return
			}
			if r := locktest(t, c.args...); r.status != c.want {
				t.Errorf("status %d, want %d\n%s\n%s", r.status, c.want, r.stdout, r.stderr)
			}
		})
	}
}

// Every end of a run has its status; of several the gravest counts.
func TestStatusOfOutcomes(t *testing.T) {
	met := func(conditions ...runner.Condition) *runner.Outcome {
		return &runner.Outcome{Conclusion: runner.Conclusion{Conditions: conditions}}
	}
	violated, doubtful := runner.Condition{Exit: 1, Name: "violated"}, runner.Condition{Exit: 2, Name: "inconclusive"}
	missed, slow := runner.Condition{Exit: 3, Name: "expectation"}, runner.Condition{Exit: 3, Name: "threshold"}
	gone := func(o *runner.Outcome) *runner.Outcome {
		o.Err = &cluster.Error{Code: cluster.CodeServerDied, Message: "it died"}
		return o
	}
	cut := func(o *runner.Outcome, signal string) *runner.Outcome { o.Interrupted = signal; return o }
	denied := func(o *runner.Outcome) *runner.Outcome {
		o.Err = errors.Join(o.Err, &runner.DisagreementError{About: "orders (mutex)"})
		return o
	}
	for name, c := range map[string]struct {
		outcomes []*runner.Outcome
		want     int
	}{
		"as expected":                         {[]*runner.Outcome{met()}, 0},
		"violated":                            {[]*runner.Outcome{met(violated, doubtful, slow)}, 1},
		"inconclusive":                        {[]*runner.Outcome{met(doubtful, missed)}, 2},
		"an expectation":                      {[]*runner.Outcome{met(missed)}, 3},
		"a threshold":                         {[]*runner.Outcome{met(slow)}, 3},
		"the environment":                     {[]*runner.Outcome{gone(met(doubtful))}, 69},
		"a violation, then the environment":   {[]*runner.Outcome{gone(met(violated))}, 1},
		"SIGINT":                              {[]*runner.Outcome{cut(met(doubtful), "SIGINT")}, 130},
		"SIGTERM, although it is violated":    {[]*runner.Outcome{cut(met(violated), "SIGTERM")}, 143},
		"the engines disagree":                {[]*runner.Outcome{denied(met())}, 70},
		"they disagree about a violation":     {[]*runner.Outcome{denied(met(violated))}, 70},
		"they disagree, and it went wrong":    {[]*runner.Outcome{denied(gone(met(doubtful)))}, 70},
		"they disagree, then a violation":     {[]*runner.Outcome{denied(met()), met(violated)}, 1},
		"a violation, then they disagree":     {[]*runner.Outcome{met(violated), denied(met())}, 1},
		"inconclusive, then violated":         {[]*runner.Outcome{met(doubtful), met(violated)}, 1},
		"an expectation, then inconclusive":   {[]*runner.Outcome{met(missed), met(doubtful)}, 2},
		"the environment, then a violation":   {[]*runner.Outcome{gone(met()), met(violated)}, 1},
		"inconclusive, then the environment":  {[]*runner.Outcome{met(doubtful), gone(met())}, 69},
		"all as expected, twice":              {[]*runner.Outcome{met(), met()}, 0},
		"a violation, then a signal in a run": {[]*runner.Outcome{met(violated), cut(met(), "SIGTERM")}, 143},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs strings.Builder
			a := &app{stdout: &out, stderr: &errs}
			g := &gate{exitCode: "normal", failOn: conditionNames()}
			if err := g.prepare(a); err != nil {
				t.Fatal(err)
			}
			if err := a.finish(c.outcomes, g); err != nil || a.exit != c.want {
				t.Errorf("status %d, want %d (%v)", a.exit, c.want, err)
			}
		})
	}
}

func TestOutputs(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, "new", name) }
	args := append([]string{"check"}, broken(t)...)
	for _, spec := range []string{"text=" + path("r.txt"), "json=" + path("r.json"), "junit=" + path("r.xml"), "md=" + path("r.md"), "github=" + path("r.github")} {
		args = append(args, "-o", spec)
	}
	r := locktest(t, args...)
	if r.status != 1 {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	read := func(name string) string {
		b, err := os.ReadFile(path(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if read("r.txt") != r.stdout || !strings.HasPrefix(r.stdout, "VIOLATED") {
		t.Errorf("the text differs from the screen:\n%s\n%s", read("r.txt"), r.stdout)
	}
	var doc struct{ Exit int }
	if err := json.Unmarshal([]byte(read("r.json")), &doc); err != nil || doc.Exit != 1 {
		t.Errorf("%v, exit %d", err, doc.Exit)
	}
	if err := xml.Unmarshal([]byte(read("r.xml")), new(any)); err != nil || !strings.Contains(read("r.xml"), "<failure") {
		t.Errorf("%v: %s", err, read("r.xml"))
	}
	if !strings.Contains(read("r.md"), "<details open>") || !strings.HasPrefix(read("r.github"), "::error title=") {
		t.Errorf("%s\n%s", read("r.md"), read("r.github"))
	}
}

// A report on standard output has it for itself.
func TestOutputToStdout(t *testing.T) {
	r := locktest(t, append(append([]string{"check"}, broken(t)...), "-o", "md=-")...)
	if r.status != 1 || !strings.HasPrefix(r.stdout, "### ") || strings.Contains(r.stdout, "Why this is a violation\n") && !strings.Contains(r.stderr, "VIOLATED") {
		t.Errorf("status %d\n%s\n-- stderr:\n%s", r.status, r.stdout, r.stderr)
	}
}

// Under GitHub Actions annotations and summary come by themselves, and standard output is what it is elsewhere.
func TestUnderGitHub(t *testing.T) {
	args := append([]string{"check"}, broken(t)...)
	plain := locktest(t, args...)
	summary := file(t, "summary.md", "what was there\n")
	t.Setenv("GITHUB_ACTIONS", "true")
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	r := locktest(t, args...)
	if r.stdout != plain.stdout || !strings.Contains(r.stderr, "::error title=mutual exclusion violated") {
		t.Errorf("%s\n-- stderr:\n%s", r.stdout, r.stderr)
	}
	b, err := os.ReadFile(summary)
	if err != nil || !strings.HasPrefix(string(b), "what was there\n### ✗ locktest: 1 violated") {
		t.Errorf("%v: %s", err, b)
	}
	if r := locktest(t, append(args, "--github=false")...); strings.Contains(r.stderr, "::error") {
		t.Errorf("--github=false: %s", r.stderr)
	}
}

// The file of an annotation is named from the repository's root, and only if it is in it.
func TestInRepository(t *testing.T) {
	root := t.TempDir()
	in := filepath.Join(root, "scenarios", "s.yaml")
	if err := os.MkdirAll(filepath.Dir(in), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GITHUB_WORKSPACE", root)
	for file, want := range map[string]string{in: "scenarios/s.yaml", "/etc/hostname": "", "scenarios/quickstart.yaml": "", "": ""} {
		if got := inRepository(file); got != want {
			t.Errorf("%q: %q, want %q", file, got, want)
		}
	}
}

// Where a report can't be written, that is told and nothing else differs.
func TestOutputThatFails(t *testing.T) {
	args := append([]string{"check"}, broken(t)...)
	plain := locktest(t, append(args, "--json")...)
	for name, path := range map[string]string{"below a file": "/etc/hostname/x.xml", "a folder": t.TempDir(), "a full device": "/dev/full"} {
		t.Run(name, func(t *testing.T) {
			r := locktest(t, append(args, "--json", "-o", "junit="+path)...)
			if r.status != plain.status || r.stdout != plain.stdout {
				t.Errorf("status %d, want %d\n%s", r.status, plain.status, r.stdout)
			}
			if !strings.Contains(r.stderr, "the junit report is missing: ") {
				t.Errorf("it isn't told: %s", r.stderr)
			}
		})
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Error("/dev/full was removed")
	}
}

// By default repeats end with the first run that fails; with --until never all are run, and rates are told.
func TestUntil(t *testing.T) {
	bad := scenario(t, everyone)
	run := func(more ...string) result {
		return locktest(t, append([]string{"run", bad, "--repeat", "2", "--run-dir", t.TempDir(), "-q"}, more...)...)
	}
	if r := run(); r.status != 1 || !strings.Contains(r.stdout, "as expected in 0 of 1 runs; 2 were planned") || strings.Contains(r.stdout, "interval") {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if r := run("--until", "never"); r.status != 1 || !strings.Contains(r.stdout, "as expected in 0 of 2 runs\n") || !strings.Contains(r.stdout, "violated in 2 of 2 runs: 100.0 %, 95 % Wilson") {
		t.Errorf("never: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	r := run("--until", "never", "--json")
	var doc documents
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || len(doc.Runs) != 2 || len(doc.Rates) == 0 || doc.Rates[0].Decided != 2 {
		t.Errorf("%v, %d runs, %+v", err, len(doc.Runs), doc.Rates)
	}
	if r := run("--until", "bored"); r.status != 64 {
		t.Errorf("an unknown end: status %d", r.status)
	}
}
