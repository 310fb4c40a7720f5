package main

import (
	"strings"
	"testing"
)

// What advise says is taken by run.
func TestAdvice(t *testing.T) {
	r := locktest(t, "advise", "--have", "etcd", "--instances", "3", "--writes", "--section", "100ms", "--pause", "1s", "--json")
	if r.status != 0 {
		t.Fatalf("exit status %d: %s", r.status, r.stderr)
	}
	r = locktest(t, "run", "matrix/contention", "--lock-from", file(t, "lock.json", r.stdout), "--dry-run")
	for _, want := range []string{"use: etcd/lease", "ttl: 2s", "resource: checks-token"} {
		if r.status != 0 || !strings.Contains(r.stdout, want) {
			t.Errorf("exit status %d, without %s:\n%s\n%s", r.status, want, r.stdout, r.stderr)
		}
	}
	if r := locktest(t, "run", "matrix/contention", "--lock-from", file(t, "bad.json", "{}"), "--dry-run"); r.status != 64 || !strings.Contains(r.stderr, "advise --json") {
		t.Errorf("exit status %d: %s", r.status, r.stderr)
	}
}

func TestAdviceInWords(t *testing.T) {
	r := locktest(t, "advise", "--have", "redis", "--instances", "3", "--failover", "--redis-nodes", "5")
	if r.status != 0 || !strings.HasPrefix(r.stdout, "Provider: redis\nStrategy: redlock\nTTL: 1.6s\nSafety: no fencing token\n") || !strings.Contains(r.stdout, "Test it") {
		t.Errorf("exit status %d:\n%s", r.status, r.stdout)
	}
	if r := locktest(t, "advise", "--have", "managed"); r.status != 64 || !strings.Contains(r.stderr, "lock of your own") {
		t.Errorf("exit status %d: %s", r.status, r.stderr)
	}
}

// What was measured stands beside the advice; of a lock that wasn't, it is said so. (Redis alone is known to lose what an
// empty restart loses: a comparison without that has not looked.)
func TestAdviceHasEvidence(t *testing.T) {
	r := locktest(t, "advise", "--have", "redis", "--instances", "3")
	if r.status != 0 || !strings.Contains(r.stdout, "Strategy: single\n") || !strings.Contains(r.stdout, "\nMeasured\n  - It broke its promise under ") || !strings.Contains(r.stdout, "node-restarted-empty") || !strings.Contains(r.stdout, "That rests on ") {
		t.Errorf("exit status %d:\n%s", r.status, r.stdout)
	}
	if r := locktest(t, "advise", "--have", "redis", "--instances", "3", "--json"); r.status != 0 || !strings.Contains(r.stdout, `"measured": [`) {
		t.Errorf("exit status %d:\n%s", r.status, r.stdout)
	}
	r = locktest(t, "advise", "--have", "postgres", "--instances", "3", "--read-heavy")
	if r.status != 0 || !strings.Contains(r.stdout, "Strategy: advisory-shared\n") || !strings.Contains(r.stdout, "Measured\n  - nothing: ") {
		t.Errorf("exit status %d:\n%s", r.status, r.stdout)
	}
}
