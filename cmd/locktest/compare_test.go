package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/locktest/locktest/compare"
	"github.com/locktest/locktest/runner"
)

// A broken lock and a right one under one scenario: the page has both, and leads to the reports of their runs. What is in the
// file of cells is not run again. The runs lie apart: nothing points latest at them.
func TestCompare(t *testing.T) {
	s := scenario(t, clean)
	t.Chdir(t.TempDir())
	args := []string{"compare", "--lock", "memory/lease,broken/everyone", s, "--data", "cells.jsonl", "--html", "m.html", "--command", "the command"}
	r := locktest(t, args...)
	if r.status != 0 || !strings.Contains(r.stdout, "It broke its promise under test.") || !strings.Contains(r.stdout, "memory/lease: It kept everything under test.") {
		t.Fatalf("exit status %d:\n%s\n%s", r.status, r.stdout, r.stderr)
	}
	b, err := os.ReadFile("m.html")
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`<a href="(runs/compare/[^"]*report\.html)">`).FindAllStringSubmatch(string(b), -1)
	if len(links) != 2 || !strings.Contains(string(b), "Made by <code>the command</code>") {
		t.Errorf("%d reports are linked, want 2:\n%s", len(links), b)
	}
	for _, l := range links {
		if _, err := os.Stat(l[1]); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(filepath.Join("runs", "latest")); err == nil {
		t.Error("latest is a run of compare")
	}
	if r := locktest(t, args...); r.status != 0 || strings.Contains(r.stderr, "run 1") {
		t.Errorf("again: exit status %d, and it ran something:\n%s", r.status, r.stderr)
	}
	if r := locktest(t, "compare", "--lock", "memory/none", s); r.status != 64 || !strings.Contains(r.stderr, "there is no lock memory/none") {
		t.Errorf("exit status %d: %s", r.status, r.stderr)
	}
}

// Recorded runs are put side by side without running anything, in every form; what is no ended run is refused in words.
func TestCompareRecordedRuns(t *testing.T) {
	s := scenario(t, clean)
	t.Chdir(t.TempDir())
	for _, lock := range []string{"memory/lease", "broken/everyone", "memory/lease"} {
		locktest(t, "run", s, "--lock", lock, "-q")
	}
	runs, err := listRuns("runs")
	if err != nil || len(runs) != 3 {
		t.Fatalf("%v: %v", err, runs)
	}
	args := []string{"compare"}
	for _, r := range runs {
		args = append(args, filepath.Join("runs", r))
	}
	r := locktest(t, append(args, "--html", "m.html", "--markdown", "m.md")...)
	for _, want := range []string{"scenario  broken/everyone ", "violated 1/1", "2/2", "availability", "acquire p50", "It broke its promise under test.", "memory/lease: It kept everything under test."} {
		if r.status != 0 || !strings.Contains(r.stdout, want) {
			t.Errorf("status %d, without %q:\n%s\n%s", r.status, want, r.stdout, r.stderr)
		}
	}
	if page := read(t, "m.html"); strings.Count(page, "report.html\">report") != 3 || !strings.Contains(page, "available ") {
		t.Error("the page doesn't lead to the three reports, or has no figures")
	}
	if text := read(t, "m.md"); !strings.Contains(text, "| test | memory/lease | 2 | ") {
		t.Error(text)
	}
	var doc struct {
		Cells []struct{ Lock, Word, Dir string }
	}
	if r := locktest(t, append(args, "--json")...); json.Unmarshal([]byte(r.stdout), &doc) != nil || len(doc.Cells) != 3 || doc.Cells[0].Dir == "" {
		t.Errorf("%s", r.stdout)
	}
	if again, err := listRuns("runs"); err != nil || len(again) != 3 {
		t.Errorf("something was run: %v %v", again, err)
	}
	last := runs[2][strings.LastIndexByte(runs[2], '-')+1:]
	if r := locktest(t, "compare", last, "latest"); r.status != 0 || !strings.Contains(r.stdout, "1/1") {
		t.Errorf("one run by its id and as latest: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	killed := filepath.Join("runs", runs[0])
	if err := os.Remove(filepath.Join(killed, "result.json")); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"is a recorded run, and " + s:   {args[2], s},
		"--lock is for runs that are":   {args[2], "--lock", "redis/single"},
		"did not come to its end":       {killed, args[2]},
		"is no run's folder":            {"runs", args[2]},
		"there is no run runs/A":        {"runs/A", "runs/B"},
		"there is no run 20261129T1317": {"20261129T131702-x-7f3a"},
		"all are runs, or all are sce":  {args[2], "pause-holder"},
	} {
		if r := locktest(t, append([]string{"compare"}, args...)...); r.status != 64 || !strings.Contains(strings.Join(strings.Fields(r.stderr), " "), want) {
			t.Errorf("%v: status %d, without %q\n%s", args, r.status, want, r.stderr)
		}
	}
}

// A recorded run about which the engines disagree is not held side by side with others either.
func TestCompareOfADisputedRun(t *testing.T) {
	dir := t.TempDir()
	result := `{"schema": "locktest.result/1", "scenario": "x", "lock": "memory/mutex", "properties": [{"property": "mutual-exclusion", "verdict": "held"}],
"cross_check": [{"lock": "orders", "model": "mutex", "engine": "porcupine", "answer": "illegal", "sweep": "legal"}]}`
	if err := os.WriteFile(filepath.Join(dir, runner.ResultFile), []byte(result), 0o644); err != nil {
		t.Fatal(err)
	}
	r := locktest(t, "compare", dir, "--json")
	var doc compare.Document
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || r.status != 0 || len(doc.Cells) != 1 {
		t.Fatalf("status %d, %v: %s%s", r.status, err, r.stdout, r.stderr)
	}
	if c := doc.Cells[0]; c.Word != compare.Inconclusive || c.Why != "the two engines disagree about orders (mutex)" {
		t.Errorf("%s: %s", c.Word, c.Why)
	}
}

// Why a lock can't be put to a scenario is told by what is wrong, not by a warning that stands before it.
func TestWhyNotApplicable(t *testing.T) {
	s := scenario(t, "lock: { ttl: 200ms }\nworkload: { use: counter, hold: 1ms..5ms, resource: checks-token }\nexpect: { fencing: { verdict: violated, because: none } }\n")
	r := locktest(t, "compare", "--lock", "postgres/advisory", s, "--json")
	var doc compare.Document
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || r.status != 0 || len(doc.Cells) != 1 {
		t.Fatalf("status %d, %v: %s%s", r.status, err, r.stdout, r.stderr)
	}
	if c := doc.Cells[0]; c.Word != compare.NotApplicable || c.Why != "fencing is expected to be violated, but postgres/advisory gives no tokens" {
		t.Errorf("%s: %s", c.Word, c.Why)
	}
}
