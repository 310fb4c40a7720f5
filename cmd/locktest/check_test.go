package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Two holders whose leases overlap by half a second, as two services logged it.
const overlap = `{"op":"acquire","lock":"orders","client":"a","start":1700000000.000,"end":1700000000.010,"ttl":2}
{"op":"acquire","lock":"orders","client":"b","start":1700000000.500,"end":1700000000.520,"ttl":2}
{"op":"release","lock":"orders","client":"a","start":1700000001.000,"end":1700000001.010}
{"op":"release","lock":"orders","client":"b","start":1700000001.500,"end":1700000001.510}
`

func TestCheckFromElsewhere(t *testing.T) {
	log := file(t, "locks.log", overlap)
	edn := file(t, "mutex.edn", "{:type :invoke, :f :acquire, :process 0, :time 1000}\n{:type :ok, :f :acquire, :process 0, :time 2000}\n{:type :invoke, :f :acquire, :process 1, :time 3000}\n{:type :ok, :f :acquire, :process 1, :time 4000}\n")
	for name, c := range map[string]struct {
		args []string
		want int
		says string
	}{
		"a log with an overlap":             {[]string{log, "--expiry", "lease", "--ttl", "2s"}, 1, "mutual exclusion"},
		"an overlap within the clock error": {[]string{log, "--expiry", "lease", "--ttl", "2s", "--clock-error", "600ms"}, 2, "INCONCLUSIVE"},
		"no promise":                        {[]string{log}, 64, "--expiry"},
		"an unknown promise":                {[]string{log, "--expiry", "soon"}, 64, "none, lease or session"},
		"EDN":                               {[]string{edn, "--expiry", "none"}, 1, "mutual exclusion"},
		"a log that is wrong":               {[]string{file(t, "bad.log", `{"op":"acquire","lock":"orders","client":"a"}`), "--expiry", "none"}, 65, "line 1"},
		"an empty file":                     {[]string{file(t, "empty.jsonl", "")}, 65, "the file is empty"},
		"an empty array":                    {[]string{file(t, "empty.json", "[]"), "--expiry", "none"}, 65, "no operation is in it"},
		"no history at all":                 {[]string{file(t, "null.json", "null")}, 65, "docs/history.md"},
	} {
		t.Run(name, func(t *testing.T) {
			r := locktest(t, append([]string{"check"}, c.args...)...)
			if r.status != c.want || !strings.Contains(r.stdout+r.stderr, c.says) {
				t.Errorf("status %d, want %d and %q\n%s%s", r.status, c.want, c.says, r.stdout, r.stderr)
			}
		})
	}
}

// What is printed to judge a history again can be typed: it says the same, whatever the file is called.
func TestCheckAgain(t *testing.T) {
	log := file(t, "Bob's $HOME locks (1).log", overlap)
	edn := file(t, "mutex.edn", "{:type :invoke, :f :acquire, :process 0, :time 1000}\n{:type :ok, :f :acquire, :process 0, :time 2000}\n{:type :invoke, :f :acquire, :process 1, :time 3000}\n{:type :ok, :f :acquire, :process 1, :time 4000}\n")
	dir := t.TempDir()
	if r := locktest(t, "run", scenario(t, clean), "--run-dir", filepath.Join(dir, "my runs"), "-q"); r.status != 0 {
		t.Fatalf("status %d\n%s", r.status, r.stderr)
	}
	for _, args := range [][]string{
		{log, "--expiry", "lease", "--ttl", "2s", "--tokens", "none"},
		{log, "--expiry", "lease", "--ttl", "2s", "--clock-error", "600ms", "--owner-checked=false"},
		{edn, "--expiry", "none", "--release-proves-held=false"},
		{"latest", "--run-dir", filepath.Join(dir, "my runs")},
		{filepath.Join(dir, "my runs", "latest")},
	} {
		first := locktest(t, append([]string{"check", "--cross-check", "off"}, args...)...)
		_, again, ok := strings.Cut(first.stdout, "  again    locktest ")
		if !ok {
			t.Fatalf("%q: nothing is printed\n%s%s", args, first.stdout, first.stderr)
		}
		again, _, _ = strings.Cut(again, "\n")
		words, err := exec.Command("sh", "-c", "printf '%s\\n' "+again).Output()
		if err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		typed := strings.Split(strings.TrimSuffix(string(words), "\n"), "\n")
		second := locktest(t, append(typed, "--cross-check", "off")...)
		if second.status != first.status || second.stdout != first.stdout {
			t.Errorf("%q, typed as %q: status %d, was %d\n%s%s", args, typed, second.status, first.status, second.stdout, second.stderr)
		}
		if strings.Contains(first.stdout, "--set run.duration") {
			t.Errorf("%q: check has no such flag\n%s", args, first.stdout)
		}
	}
}

// Without its scenario beside it a history of ours is judged, and it is told that nothing of that is applied.
func TestCheckSaysThatTheScenarioIsMissing(t *testing.T) {
	dir := t.TempDir()
	if r := locktest(t, "run", scenario(t, clean), "--run-dir", dir, "-q"); r.status != 0 {
		t.Fatalf("status %d\n%s", r.status, r.stderr)
	}
	const says = "the scenario test expects and accepts is not applied"
	if r := locktest(t, "check", "latest", "--run-dir", dir); r.status != 0 || strings.Contains(r.stderr, says) {
		t.Errorf("in its folder: status %d\n%s", r.status, r.stderr)
	}
	b, err := os.ReadFile(filepath.Join(dir, "latest", "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"history.jsonl", "other.jsonl"} {
		if r := locktest(t, "check", file(t, name, string(b))); r.status != 0 || !strings.Contains(r.stderr, says) {
			t.Errorf("%s alone: status %d\n%s", name, r.status, r.stderr)
		}
	}
}
