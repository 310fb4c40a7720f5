package catalog_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/scenarios"
)

var update = flag.Bool("update", false, "write the files that are kept beside the catalogue anew")

// kept compares a file of the repository with what the catalogue makes of it now.
func kept(t *testing.T, path string, want []byte) {
	t.Helper()
	path = filepath.Join("..", path)
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the catalogue says (go test ./catalog -update):\n%s", path, cmp.Diff(string(want), string(got)))
	}
}

func TestReferenceIsCurrent(t *testing.T) {
	for name, text := range catalog.Reference() {
		kept(t, "docs/reference/"+name, []byte(text))
	}
}

func TestSchemaIsCurrent(t *testing.T) {
	kept(t, "scenarios/schema.json", scenarios.Schema(catalog.Names()))
}

// Every scenario that comes with the program is valid, and its resolved form is the same scenario.
func TestScenariosAreValid(t *testing.T) {
	for _, name := range scenarios.List() {
		t.Run(name, func(t *testing.T) {
			file, src, err := scenarios.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			s, problems := scenarios.Load(file, src, catalog.Names())
			if len(problems) > 0 || s == nil {
				var b strings.Builder
				scenarios.Render(&b, problems, false)
				t.Fatal(b.String())
			}
			again, problems := scenarios.Load(file, scenarios.Resolved(s), catalog.Names())
			if again == nil {
				t.Fatal(problems)
			}
			if !bytes.Equal(scenarios.Resolved(s), scenarios.Resolved(again)) {
				t.Error(cmp.Diff(string(scenarios.Resolved(s)), string(scenarios.Resolved(again))))
			}
		})
	}
}

func TestLocksHaveDefaults(t *testing.T) {
	var names []string
	for _, l := range catalog.Locks() {
		p, err := l.New(nil)
		if err != nil {
			t.Errorf("%s: %v", l.Name, err)
			continue
		}
		if c := p.Claims(time.Second); c.Expiry == "" || c.Tokens == "" {
			t.Errorf("%s claims %+v", l.Name, c)
		}
		if _, err := l.New(map[string]string{"nonsense": "1"}); err == nil && len(l.Options) == 0 {
			t.Errorf("%s takes an option that it doesn't have", l.Name)
		}
		if l.Broken() != strings.HasPrefix(l.Name, "broken/") {
			t.Errorf("%s: broken is %v", l.Name, l.Broken())
		}
		if _, ok := catalog.Find(l.Reference); l.Broken() && !ok {
			t.Errorf("%s has no right counterpart: %q", l.Name, l.Reference)
		}
		names = append(names, l.Name)
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(catalog.Locks()) {
		t.Error("a name stands twice")
	}
}

func TestCodesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range catalog.Codes() {
		if seen[c.Code] || c.About == "" {
			t.Errorf("%s stands twice, or says nothing", c.Code)
		}
		seen[c.Code] = true
	}
}

// The same seed lays out the same schedule, another one another.
func TestScheduleFollowsTheSeed(t *testing.T) {
	layout := func(seed string) string {
		file, src, err := scenarios.Find("redlock-partition")
		if err != nil {
			t.Fatal(err)
		}
		s, problems := scenarios.Load(file, src, catalog.Names(), scenarios.Setting{Flag: "--seed", Key: "run.seed", Value: seed},
			scenarios.Setting{Flag: "--set", Key: "faults", Value: "[{every: 1s..3s, for: 100ms..900ms, partition: one}]"}, scenarios.Setting{Flag: "--on", Key: "cluster.kind", Value: "embedded"})
		if s == nil {
			t.Fatal(problems)
		}
		p, err := catalog.Resolve(s, src, catalog.ResolveOptions{Self: "locktest"})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, o := range p.Schedule[0].Times {
			b.WriteString(o.Begin.String() + "+" + o.For.String() + " ")
		}
		return b.String()
	}
	a, again, other := layout("5"), layout("5"), layout("6")
	if a != again || a == other || strings.Count(a, "+") < 5 {
		t.Errorf("seed 5: %s\nagain: %s\nseed 6: %s", a, again, other)
	}
}
