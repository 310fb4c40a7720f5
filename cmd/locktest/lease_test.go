package main

import (
	"strings"
	"testing"
)

// An advised lease that outlasts the pauses of a scenario would have the run show nothing of stale holders: the scenario's own stays,
// and that is said. What the command line sets is taken, with a warning that says what to set instead.
func TestAdvisedLeaseAndPauses(t *testing.T) {
	r := locktest(t, "advise", "--have", "redis", "--instances", "3", "--section", "500ms", "--pause", "1500ms", "--json")
	if r.status != 0 {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	advice := file(t, "lock.json", r.stdout)
	r = locktest(t, "run", "matrix/holder-paused", "--lock-from", advice, "--dry-run")
	if r.status != 0 || !strings.Contains(r.stdout, "ttl: 1s") || !strings.Contains(r.stderr, "holder-paused keeps its lease of 1s") || strings.Contains(r.stderr, "LT031") {
		t.Errorf("status %d\n%s\n%s", r.status, r.stdout, r.stderr)
	}
	r = locktest(t, "run", "matrix/holder-paused", "--lock-from", advice, "--set", "lock.ttl=3s", "--dry-run")
	if r.status != 0 || !strings.Contains(r.stdout, "ttl: 3s") || !strings.Contains(r.stderr, "LT031") || !strings.Contains(r.stderr, "shows nothing about stale holders") || !strings.Contains(r.stderr, "--set lock.ttl=1s") {
		t.Errorf("status %d\n%s\n%s", r.status, r.stdout, r.stderr)
	}
}
