package scenarios

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sameApartFromPlaces compares scenarios that were read from different files.
func sameApartFromPlaces() cmp.Options {
	return cmp.Options{cmpopts.IgnoreTypes(Pos{}), cmpopts.IgnoreFields(Scenario{}, "File"), cmpopts.EquateEmpty()}
}

func render(t *testing.T, problems Problems, color bool) string {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, problems, color); err != nil {
		t.Fatal(err)
	}
	return b.String() + "locktest: " + Tally(problems, 1) + "\n"
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// TestBadFiles reads each file of testdata and compares every message. The codes and places that are expected also stand
// in the file's first comment, written by hand, so that -update cannot hide a change.
func TestBadFiles(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) < 25 {
		t.Fatalf("%d files in testdata, at least 25 are expected", len(paths))
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, problems := Load(filepath.ToSlash(path), src, testNames())
			first, _, _ := strings.Cut(string(src), "\n")
			want := strings.Fields(strings.TrimPrefix(first, "# expect:"))
			if diff := cmp.Diff(want, places(problems)); diff != "" {
				t.Errorf("codes and places (-want +got):\n%s", diff)
			}
			golden(t, strings.TrimSuffix(path, ".yaml")+".txt", render(t, problems, false))
		})
	}
}

func places(problems Problems) []string {
	var out []string
	for _, p := range problems {
		out = append(out, strings.TrimPrefix(p.Place.Pos.String(), p.Place.File+":")+"="+p.Code)
	}
	return out
}

func TestColor(t *testing.T) {
	_, problems := Load("x.yaml", []byte("version: 1\nname: x\nlock: { ttl: 2 }\n"), testNames())
	if got := render(t, problems, true); !strings.Contains(got, "\x1b[1;31merror LT007\x1b[0m") {
		t.Errorf("no red in:\n%q", got)
	}
	if got := render(t, problems, false); strings.Contains(got, "\x1b") {
		t.Errorf("escape sequence in plain text:\n%q", got)
	}
}

func TestDefaults(t *testing.T) {
	s, problems := Load("x.yaml", []byte("version: 1\nname: x\nlock: { use: redis/single, ttl: 3s }\n"), testNames())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := &Scenario{
		File: "x.yaml", Version: 1, Name: "x",
		Lock:     Lock{Use: "redis/single", TTL: 3 * time.Second, Mode: "exclusive"},
		Cluster:  Cluster{Kind: "auto"},
		Clients:  Clients{Count: 4, Process: "separate", Threads: 1},
		Workload: Workload{Use: "mutex", Locks: 1, Hold: Range{10 * time.Millisecond, 50 * time.Millisecond}, Wait: time.Second, Readers: 0.7, Order: "sorted", Resource: "ignores-token", Store: "harness"},
		Run:      Run{Duration: 30 * time.Second, Warmup: time.Second, Settle: 5 * time.Second, Repeat: 1},
		Expect:   map[string]Expectation{"liveness": {Verdict: "held", RecoverWithin: 8 * time.Second}},
		Evidence: Evidence{MinAcquires: 100, MinHits: 1},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEveryKeyIsRead(t *testing.T) {
	src, err := os.ReadFile("testdata/whole.good")
	if err != nil {
		t.Fatal(err)
	}
	s, problems := Load("whole.good", src, testNames())
	if problems.Failed() {
		t.Fatal(render(t, problems, false))
	}
	for _, f := range Fields() {
		if !bytes.Contains(src, []byte(f.Key()+":")) {
			t.Errorf("testdata/whole.good doesn't have %s", f.Path)
		}
	}
	want := wholeScenario()
	if diff := cmp.Diff(want, s, sameApartFromPlaces()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func wholeScenario() *Scenario {
	ms, span := time.Millisecond, func(a, b time.Duration) *Range { return &Range{a, b} }
	return &Scenario{
		Version: 1, Name: "whole", About: "Every key: with a colon.", Tags: []string{"one", "no"},
		Lock: Lock{Use: "test/all", TTL: 1500 * ms, Mode: "shared", Permits: 3, Command: []string{"python3", "my lock.py"}, Server: "redis"},
		Cluster: Cluster{Kind: "external", Nodes: 3, Endpoints: []string{"127.0.0.1:6379", "db.example:1", "[::1]:2"}, AllowFaults: true,
			Access: Access{User: "u", PasswordEnv: "P", TLS: true, CA: "ca.pem", Cert: "c.pem", Key: "k.pem"}},
		Clients:  Clients{Count: 2, Process: "separate", Threads: 2},
		Workload: Workload{Use: "register", Locks: 2, Hold: Range{ms, 2 * ms}, Think: Range{0, ms}, Extend: 500 * ms, Fail: 0.07, Readers: 0.25, Order: "opposite", Deduplicate: true, Early: true, Resource: "checks-token", Store: "harness"},
		Run:      Run{Duration: time.Minute, Warmup: 2 * time.Second, Settle: 10 * time.Second, Seed: 18446744073709551615, HasSeed: true, Repeat: 3, Budget: 10 * time.Minute},
		Faults: []Fault{
			{Trigger: Trigger{At: span(4*time.Second, 5*time.Second)}, For: Range{time.Second, time.Second}, Kind: "partition", Args: Args{Groups: [][]string{{"n1", "n2"}, {"n3", "clients"}}, Direction: "both", Mode: "hold"}},
			{Trigger: Trigger{Every: span(3*time.Second, 6*time.Second), From: 3 * time.Second, Until: 40 * time.Second, Limit: 4}, For: Range{ms, 2 * time.Second}, Kind: "kill", Args: Args{List: []string{"n1", "c2"}, Restart: "empty"}},
			{Trigger: Trigger{On: "extending", After: Range{0, ms}, Chance: 0.29}, For: Range{time.Second, time.Second}, Kind: "latency", Args: Args{Of: "holder", Latency: Range{50 * ms, 150 * ms}}},
			{Trigger: Trigger{On: "waiting", Chance: 1}, For: Range{time.Second, time.Second}, Kind: "partition", Args: Args{Of: "majority", Direction: "to-nodes", Mode: "drop"}},
			{Trigger: Trigger{At: span(9*time.Second, 9*time.Second)}, Kind: "flush", Args: Args{Of: "all"}},
			{Trigger: Trigger{At: span(10*time.Second, 10*time.Second)}, For: Range{time.Second, time.Second}, Kind: "clock", Args: Args{Of: "n1", Jump: -20 * time.Second, Rate: 1.5, Clock: "monotonic"}},
			{Trigger: Trigger{At: span(12*time.Second, 12*time.Second)}, For: Range{time.Second, time.Second}, Kind: "random", Args: Args{Kinds: []string{"pause", "latency"}, On: "nodes"}},
			{Trigger: Trigger{At: span(11*time.Second, 11*time.Second)}, For: Range{time.Second, time.Second}, Kind: "clock", Args: Args{Of: "n1", Freeze: true, Clock: "wall"}},
			{Trigger: Trigger{At: span(13*time.Second, 13*time.Second)}, Kind: "failover"},
			{Trigger: Trigger{At: span(14*time.Second, 14*time.Second)}, For: Range{time.Second, time.Second}, Kind: "failover", Args: Args{Of: "n2"}},
			{Trigger: Trigger{At: span(13*time.Second, 13*time.Second)}, For: Range{time.Second, time.Second}, Kind: "rate", Args: Args{Of: "n1", Bandwidth: 1500, Direction: "both"}},
			{Trigger: Trigger{At: span(15*time.Second, 15*time.Second)}, Kind: "message", Args: Args{Of: "holder", Message: Message{Deed: "drop", What: "reply", Match: "SET lock", Nth: 1}}},
			{Trigger: Trigger{At: span(15*time.Second, 15*time.Second)}, Kind: "message", Args: Args{Of: "c1", Message: Message{Deed: "delay", What: "request", By: 800 * ms}}},
			{Trigger: Trigger{At: span(15*time.Second, 15*time.Second)}, For: Range{time.Second, time.Second}, Kind: "message", Args: Args{List: []string{"c1", "c2"}, Message: Message{Deed: "hold", What: "push"}}},
			{Trigger: Trigger{At: span(15*time.Second, 15*time.Second)}, Kind: "message", Args: Args{Of: "c1", Message: Message{Deed: "reset", What: "push"}}},
			{Trigger: Trigger{At: span(14*time.Second, 14*time.Second)}, For: Range{time.Second, time.Second}, Kind: "partition", Args: Args{Of: "all", Shape: "ring", Direction: "both", Mode: "hold"}},
			{Trigger: Trigger{At: span(14*time.Second, 14*time.Second)}, For: Range{time.Second, time.Second}, Kind: "pause", Args: Args{Of: "holder", Only: "renewal"}},
			{Trigger: Trigger{At: span(15*time.Second, 15*time.Second)}, For: Range{time.Second, time.Second}, Kind: "exec", Args: Args{Of: "n1", Exec: Exec{Inject: []string{"tc", "qdisc", "add"}, Heal: []string{"tc"}, Limit: 5 * time.Second}}},
			{Trigger: Trigger{At: span(16*time.Second, 16*time.Second)}, Kind: "exec", Args: Args{Exec: Exec{Inject: []string{"true"}, Limit: 30 * time.Second}}},
		},
		Expect: map[string]Expectation{
			"mutual-exclusion/stale-holder": {Verdict: "any"},
			"fencing":                       {Verdict: "violated", Because: "tokens: none, really"},
			"liveness":                      {Verdict: "held", RecoverWithin: 5 * time.Second},
			"availability":                  {Verdict: "held", Min: 0.99, HasMin: true, During: "all"},
		},
		Thresholds: []Threshold{{Metric: "acquire.p99", Max: 250 * ms, During: "calm"}, {Metric: "availability", Min: 0.5, During: "faults"}, {Metric: "throughput", Min: 12.5, Rate: true, During: "calm"}},
		Evidence:   Evidence{MinAcquires: 10, MinHits: 1},
	}
}

// Some editors of Windows begin a file with a mark, which is no part of it.
func TestByteOrderMark(t *testing.T) {
	s, problems := Load("x.yaml", []byte("\uFEFFversion: 1\r\nname: marked\r\n"), testNames())
	if s == nil || s.Name != "marked" || len(problems) > 0 {
		t.Errorf("%+v, %v", s, problems)
	}
	_, problems = Load("x.yaml", []byte("\uFEFFversoin: 1\nname: x\n"), testNames())
	if len(problems) != 1 || problems[0].Place.Column != 1 || strings.Contains(problems[0].Place.Text, "\uFEFF") {
		t.Errorf("%v", problems)
	}
}
