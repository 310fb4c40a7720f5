package main

import (
	"encoding/json"
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
	if r := locktest(t, "advise", "--have", "managed"); r.status != 64 || !strings.Contains(r.stderr, "locktest check LOG --expiry lease --ttl TTL") {
		t.Errorf("exit status %d: %s", r.status, r.stderr)
	}
}

// What was said to be impossible is not advised.
func TestAdviceForBlindStorage(t *testing.T) {
	args := []string{"advise", "--have", "etcd", "--instances", "3", "--writes"}
	if r := locktest(t, args...); r.status != 0 || !strings.Contains(r.stdout, "Safety: fencing token required, checked where the data is\n") || strings.Contains(r.stdout, "can't compare") {
		t.Errorf("exit status %d:\n%s", r.status, r.stdout)
	}
	r := locktest(t, append(args, "--conditions=false")...)
	if beware := strings.Index(r.stdout, "\nBeware\n"); r.status != 0 || !strings.Contains(r.stdout, "Safety: fencing token required, and the storage can't check one") || strings.Index(r.stdout, "the storage can't compare") < beware || beware < 0 {
		t.Errorf("exit status %d:\n%s", r.status, r.stdout)
	}
}

func TestAdviceRefusesNonsense(t *testing.T) {
	for flag, says := range map[string]string{
		"--drift=nan": "not NaN", "--drift=inf": "not +Inf", "--pause=1000h": "24h at most", "--section=25h": "24h at most", "--section=0": "--section 0: a section takes some time",
		"--redis-nodes=0": "--redis-nodes 0: expected at least 1", "--redis-nodes=-1": "--redis-nodes -1: expected at least 1",
	} {
		if r := locktest(t, "advise", "--have", "redis", "--section", "100ms", flag); r.status != 64 || r.stdout != "" || !strings.Contains(r.stderr, says) {
			t.Errorf("%s: exit status %d:\n%s%s", flag, r.status, r.stdout, r.stderr)
		}
	}
	for _, pause := range []string{"0", "0s"} {
		if r := locktest(t, "advise", "--have", "redis", "--section", "100ms", "--pause", pause); r.status != 0 || strings.Contains(r.stdout, "was not said") {
			t.Errorf("--pause %s: exit status %d:\n%s%s", pause, r.status, r.stdout, r.stderr)
		}
	}
}

// What was measured stands beside the advice. (Redis alone is known to lose what an
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
	if r.status != 0 || !strings.Contains(r.stdout, "Strategy: advisory-shared\n") || !strings.Contains(r.stdout, "Measured\n  - It kept everything under ") {
		t.Errorf("exit status %d:\n%s", r.status, r.stdout)
	}
}

// --code prints a program and nothing else, with the lease that was counted.
func TestAdviceAsCode(t *testing.T) {
	args := []string{"advise", "--have", "redis", "--instances", "3", "--section", "200ms", "--pause", "2s"}
	r := locktest(t, append(args, "--code", "python")...)
	if r.status != 0 || !strings.HasPrefix(r.stdout, "# apt install python3-redis") || !strings.Contains(r.stdout, "TTL_MS, WAIT_S = 3400, 2\n") || strings.Count(r.stdout, "\n") > 20 {
		t.Errorf("exit status %d:\n%s%s", r.status, r.stdout, r.stderr)
	}
	var doc struct {
		Lock, Code string
	}
	if err := json.Unmarshal([]byte(locktest(t, append(args, "--code", "python", "--json")...).stdout), &doc); err != nil || doc.Lock != "redis/single" || doc.Code != r.stdout {
		t.Errorf("%v: %+v", err, doc)
	}
	for language, want := range map[string]string{"java": "Debian has no client of Redis for Java", "cobol": "not one of [go python node java]"} {
		if r := locktest(t, append(args, "--code", language)...); r.status != 64 || r.stdout != "" || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit status %d:\n%s%s", language, r.status, r.stdout, r.stderr)
		}
	}
}

func TestAdviseHelp(t *testing.T) {
	r := locktest(t, "advise", "--help")
	for _, want := range []string{"--section (the hold that 999 of 1000 don't exceed) and --pause", "--drift", "managed (alone it is refused", "--code"} {
		if r.status != 0 || !strings.Contains(r.stdout, want) {
			t.Errorf("exit status %d, without %q:\n%s", r.status, want, r.stdout)
		}
	}
}

// What is no terminal is asked nothing.
func TestAdviceWithoutTerminal(t *testing.T) {
	if r := locktest(t, "advise"); r.status != 64 || r.stdout != "" || !strings.Contains(r.stderr, "nothing to keep a lock in") {
		t.Errorf("exit status %d:\n%s%s", r.status, r.stdout, r.stderr)
	}
}
