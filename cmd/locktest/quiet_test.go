package main

import (
	"strings"
	"testing"
)

// With -q warnings are not told; why a command failed is.
func TestQuiet(t *testing.T) {
	empty := file(t, "empty.yaml", "")
	warned := file(t, "warned.yaml", "version: 1\nname: warned\nlock: { use: memory/lease, ttl: 2s }\nrun: { duration: 10s }\nfaults:\n  - { on: acquired, for: 1s, pause: holder }\n")
	if r := locktest(t, "validate", warned); r.status != 0 || !strings.Contains(r.stderr, "warning") {
		t.Fatalf("no warning: exit status %d:\n%s", r.status, r.stderr)
	}
	for name, c := range map[string]struct {
		args []string
		want int
		says string
	}{
		"run":               {[]string{"run", "quickstart", "--set", "run.duration=3s", "-q"}, 64, "warmup and settle leave no time"},
		"validate":          {[]string{"validate", empty, "-q"}, 65, "the file is empty"},
		"a warning":         {[]string{"validate", warned, "-q"}, 0, ""},
		"a strict warning":  {[]string{"validate", warned, "-q", "--strict"}, 65, "warning"},
		"beside a mistake":  {[]string{"validate", warned, "-q", "--set", "run.repeat=x"}, 64, "not a whole number"},
		"what is all right": {[]string{"validate", "quickstart", "-q"}, 0, ""},
	} {
		r := locktest(t, c.args...)
		if r.status != c.want || r.stdout != "" || !strings.Contains(r.stderr, c.says) || c.says == "" && r.stderr != "" {
			t.Errorf("%s: exit status %d, want %d and %q:\n%s%s", name, r.status, c.want, c.says, r.stdout, r.stderr)
		}
	}
}
