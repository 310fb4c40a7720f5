package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const withCommands = onRedis + `evidence: { min-acquires: 5 }
faults:
  - { at: 300ms, for: 200ms, exec: { of: n1, inject: [sh, -c, "echo run $LOCKTEST_RUN; kill -STOP $LOCKTEST_PIDS"], heal: [sh, -c, "kill -CONT $LOCKTEST_PIDS"] } }
`

func execScenario(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.yaml")
	head := "version: 1\nname: exec\nclients: { count: 3 }\nrun: { duration: 2500ms, warmup: 100ms, settle: 1500ms, seed: 7 }\n"
	if err := os.WriteFile(path, []byte(head+withCommands), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// A run whose fault is a command: it is in the history, and what the command says is in the run's logs.
func TestExecInARun(t *testing.T) {
	dir := t.TempDir()
	r := locktest(t, "run", execScenario(t), "--on", "process", "--run-dir", dir)
	if r.status != 0 {
		t.Fatalf("status %d\n%s\n%s", r.status, r.stdout, r.stderr)
	}
	run := filepath.Join(dir, "latest")
	id, err := os.Readlink(run)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(run, "logs", "exec.log"))
	if want := "run " + id[strings.LastIndex(id, "-")+1:] + "\n"; err != nil || !strings.Contains(string(log), want) {
		t.Errorf("the log doesn't say %q: %v\n%s", want, err, log)
	}
	history, err := os.ReadFile(filepath.Join(run, "history.jsonl"))
	if err != nil || strings.Count(string(history), `"type":"fault-begin"`) != 1 || strings.Count(string(history), `"type":"fault-end"`) != 1 || !strings.Contains(string(history), `"targets":["n1"]`) {
		t.Errorf("the history: %v\n%s", err, history[:min(len(history), 3000)])
	}
}

func TestNoExec(t *testing.T) {
	dir := t.TempDir()
	r := locktest(t, "run", execScenario(t), "--no-exec", "--run-dir", dir)
	says(t, r, 65, "LT110", "--no-exec", "fault 1", "it runs sh")
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("something was started: %v, %v", left, err)
	}
}
