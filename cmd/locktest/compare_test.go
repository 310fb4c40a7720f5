package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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
