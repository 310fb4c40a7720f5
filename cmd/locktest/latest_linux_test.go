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

// A signal before the run's clock starts: it says so, and so does the list. An empty folder is no run that was killed.
func TestEndedBeforeItBegan(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(t.TempDir(), "redis-server") // tells its version, and never answers
	if err := os.WriteFile(bin, []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo v=7.0.1 && exit\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LOCKTEST_REDIS_SERVER", bin)
	r := locktest(t, "run", scenario(t, onRedis), "--on", "process", "--timeout", "500ms", "--run-dir", dir)
	says(t, r, 69, "error: the run was ended by --timeout 500ms before it began", "after 0 runs")
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	r = locktest(t, "list", "runs", "--run-dir", dir)
	for _, words := range []string{"ended by --timeout 500ms before it began, redis/single", "nothing was recorded"} {
		if !strings.Contains(r.stdout, words) {
			t.Errorf("it doesn't say %q:\n%s", words, r.stdout)
		}
	}
}

func TestSignalBeforeItBegan(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "redis-server")
	if err := os.WriteFile(bin, []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo v=7.0.1 && exit\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LOCKTEST_REDIS_SERVER", bin)
	dir := t.TempDir()
	cmd, _ := start(t, dir, "lock redis/single", "run", scenario(t, onRedis), "--on", "process")
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != 130 {
		t.Errorf("status %d", status)
	}
	if r := locktest(t, "list", "runs", "--run-dir", dir); !strings.Contains(r.stdout, "ended by SIGINT before it began") {
		t.Error(r.stdout)
	}
}

// Where this machine can't be written to it is the environment; a place that no machine has is the command line.
func TestNotWritable(t *testing.T) {
	says(t, locktest(t, "run", scenario(t, clean), "--run-dir", "/proc/locktest/runs"), 69, "run folder")
	log := file(t, "locks.log", overlap)
	says(t, locktest(t, "report", log, "--expiry", "lease", "--ttl", "2s", "-o", "/proc/page.html"), 69, "the page is missing")
	says(t, locktest(t, "run", scenario(t, clean), "--run-dir", log), 64, "not a directory")
}
