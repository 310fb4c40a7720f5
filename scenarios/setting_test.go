package scenarios

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const settable = `version: 1
name: x
workload: { use: counter, resource: ignores-token }
faults:
  - { at: 5s, for: 2s, pause: [c1, c2] }
`

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		name, key, value string
		got              func(*Scenario) any
		want             any
	}{
		{"a key that is there", "workload.resource", "checks-token", func(s *Scenario) any { return s.Workload.Resource }, "checks-token"},
		{"a key that isn't", "workload.hold", "5ms..9ms", func(s *Scenario) any { return s.Workload.Hold }, Range{5 * time.Millisecond, 9 * time.Millisecond}},
		{"a mapping that isn't", "run.seed", "9", func(s *Scenario) any { return s.Run.Seed }, uint64(9)},
		{"a key at the top", "name", "y", func(s *Scenario) any { return s.Name }, "y"},
		{"a key of a fault", "faults[1].for", "3s", func(s *Scenario) any { return s.Faults[0].For.Max }, 3 * time.Second},
		{"an item", "faults[1].pause[2]", "c3", func(s *Scenario) any { return s.Faults[0].Args.List }, []string{"c1", "c3"}},
		{"a whole mapping", "lock", "{ use: redis/single, ttl: 3s }", func(s *Scenario) any { return s.Lock.Use + formatDuration(s.Lock.TTL) }, "redis/single3s"},
		{"no value", "about", `""`, func(s *Scenario) any { return s.About }, ""},
		{"a whole list", "faults", "[]", func(s *Scenario) any { return len(s.Faults) }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, problems := Load("x.yaml", []byte(settable), testNames(), Setting{"--set", c.key, c.value})
			if problems.Failed() {
				t.Fatal(render(t, problems, false))
			}
			if diff := cmp.Diff(c.want, c.got(s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLaterSettingWins(t *testing.T) {
	s, problems := Load("x.yaml", []byte(settable), testNames(), Setting{"--set", "run.seed", "1"}, Setting{"--seed", "run.seed", "2"})
	if problems.Failed() || s.Run.Seed != 2 {
		t.Errorf("scenario %+v, %v", s, problems)
	}
}

func TestBadSettings(t *testing.T) {
	problems := Problems{}
	for _, set := range []Setting{
		{"--set", "workload.resorce", "checks-token"},
		{"--set", "workload.resource", "cheks-token"},
		{"--lock", "lock.use", "redis/sinlge"},
		{"--set", "wrkload.resource", "checks-token"},
		{"--set", "run.duration", "20"},
		{"--set", "faults[2].for", "3s"},
		{"--set", "faults.for", "3s"},
		{"--set", "tags[1]", "3s"},
		{"--set", "name.first", "x"},
		{"--set", "name", ""},
		{"--set", "name", "[a"},
		{"--set", "cluster.nodes", "&x 3"},
		{"--set", "faults[1].pause[2]", "c9"},
		{"--set", "clients.count", "1001"},
		{"--set", "lock.ttl", "1ns"},
	} {
		_, got := Load("x.yaml", []byte(settable), testNames(), set)
		if len(got) != 1 {
			t.Errorf("%v: %d problems: %v", set, len(got), got)
		}
		problems = append(problems, got...)
	}
	text := ""
	for _, p := range problems {
		text += render(t, Problems{p}, false)
	}
	golden(t, "testdata/settings.golden", text)
}

func TestParseSetting(t *testing.T) {
	got, err := ParseSetting("--set", " a.b =c=d")
	if want := (Setting{"--set", "a.b", "c=d"}); err != nil || got != want {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "a.b", "=c"} {
		if got, err := ParseSetting("--set", text); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}
