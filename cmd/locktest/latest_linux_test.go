package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The latest run is the last that has ended. One that goes on is found by its name, which says so, and so is one that was killed.
func TestLatestHasEnded(t *testing.T) {
	dir := t.TempDir()
	long := scenario(t, strings.Replace(clean, "counter", "counter, think: 20ms..40ms", 1))
	alone, _ := start(t, dir, "phase: faults", "run", long, "--set", "run.duration=60s")
	if r := locktest(t, "check", "latest", "--run-dir", dir); r.status != 64 || !strings.Contains(r.stderr, "goes on") {
		t.Errorf("while the only run goes on: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	alone.Process.Kill()
	alone.Wait()
	if r := locktest(t, "check", "latest", "--run-dir", dir); r.status != 2 || !strings.Contains(r.stdout, "INCONCLUSIVE") {
		t.Errorf("where the only run was killed: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if r := locktest(t, "run", scenario(t, clean), "--run-dir", dir, "-q"); r.status != 0 {
		t.Fatalf("status %d\n%s", r.status, r.stderr)
	}
	ended, err := os.Readlink(filepath.Join(dir, "latest"))
	if err != nil {
		t.Fatal(err)
	}
	cmd, _ := start(t, dir, "phase: faults", "run", long, "--set", "run.duration=60s")
	runs, err := listRuns(dir)
	if err != nil || len(runs) != 3 {
		t.Fatalf("%v: %v", err, runs)
	}
	going := runs[2]
	if to, err := os.Readlink(filepath.Join(dir, "latest")); err != nil || to != ended {
		t.Errorf("latest is %s (%v), %s goes on", to, err, going)
	}
	says := "the run " + going + " goes on"
	if r := locktest(t, "check", going, "--run-dir", dir, "-q"); r.status != 2 || !strings.Contains(r.stderr, says) {
		t.Errorf("check of one that goes on: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if r := locktest(t, "list", "ops", filepath.Join(dir, going)); r.status != 0 || !strings.Contains(r.stderr, says) {
		t.Errorf("operations of one that goes on: status %d\n%s", r.status, r.stderr)
	}
	if r := locktest(t, "list", "runs", "--run-dir", dir); !strings.Contains(r.stdout, "it goes on") || !strings.Contains(r.stdout, "it was killed") {
		t.Error(r.stdout)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if r := locktest(t, "check", going, "--run-dir", dir, "-q"); r.status != 2 || strings.Contains(r.stderr, "goes on") || !strings.Contains(r.stdout, "INCONCLUSIVE") {
		t.Errorf("check of one that was killed: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if to, err := os.Readlink(filepath.Join(dir, "latest")); err != nil || to != ended {
		t.Errorf("latest is %s (%v) after a run was killed", to, err)
	}
}
