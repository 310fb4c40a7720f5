package catalog_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/scenarios"
)

// explained fails the test unless there is exactly one page of that kind for a word.
func explained(t *testing.T, word, kind string) {
	t.Helper()
	pages, _ := catalog.Explain(word)
	n := 0
	for _, p := range pages {
		if p.Kind == kind && p.Name == word {
			n++
		}
		if len(strings.Join(p.Text, " ")) < 20 {
			t.Errorf("the page of %s says nothing", p.Name)
		}
	}
	if n != 1 {
		t.Errorf("%s has %d pages as a %s", word, n, kind)
	}
}

func TestEverythingIsExplained(t *testing.T) {
	for _, p := range checker.All() {
		explained(t, p.Name(), "property")
	}
	for _, v := range []checker.Verdict{checker.Held, checker.Violated, checker.Inconclusive} {
		explained(t, v.String(), "verdict")
	}
	explained(t, "n/a", "verdict")
	if pages, _ := catalog.Explain(checker.NotApplicable.String()); len(pages) != 1 {
		t.Errorf("%s isn't explained", checker.NotApplicable)
	}
	for kind := range catalog.Names().Faults {
		if pages, _ := catalog.Explain(kind); len(pages) == 0 || !slices.ContainsFunc(pages[0].Text, func(s string) bool { return strings.HasPrefix(s, "In a scenario: ") }) {
			t.Errorf("the fault %s isn't explained", kind)
		}
	}
	for _, c := range catalog.Codes() {
		explained(t, c.Code, "code")
	}
	for _, l := range catalog.Locks() {
		explained(t, l.Name, "lock")
	}
	for name := range catalog.Names().Workloads {
		if pages, _ := catalog.Explain(name); len(pages) == 0 {
			t.Errorf("the workload %s isn't explained", name)
		}
	}
	for _, s := range []checker.Strength{checker.Definite, checker.UnderClocks, checker.UnderStall, checker.Hazard} {
		explained(t, string(s), "strength")
	}
}

// The kinds of finding are the constants of the checker that look like one and are nothing else.
func TestEveryKindOfFindingIsExplained(t *testing.T) {
	files, err := filepath.Glob("../checker/*.go")
	if err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	other := []string{checker.ModelMutex, checker.ModelRegister, "legal", "illegal"}
	for _, c := range checker.All() {
		other = append(other, c.Name())
	}
	n := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(node ast.Node) bool {
			d, ok := node.(*ast.GenDecl)
			if !ok || d.Tok != token.CONST {
				return true
			}
			for _, s := range d.Specs {
				v := s.(*ast.ValueSpec)
				for _, value := range v.Values {
					lit, ok := value.(*ast.BasicLit)
					if !ok || lit.Kind != token.STRING || v.Type != nil {
						continue
					}
					if kind, _ := strconv.Unquote(lit.Value); word.MatchString(kind) && !slices.Contains(other, kind) {
						n++
						explained(t, kind, "finding")
					}
				}
			}
			return true
		})
	}
	if n < 30 {
		t.Errorf("only %d kinds were found", n)
	}
}

func TestPagesAreWellFormed(t *testing.T) {
	kinds := []string{"property", "verdict", "finding", "strength", "term", "fault", "code", "lock", "workload", "key", "metric", "value"}
	command := regexp.MustCompile("`locktest ([a-z]+)")
	for _, p := range catalog.Pages() {
		if !slices.Contains(kinds, p.Kind) || len(p.Text) == 0 {
			t.Errorf("%s: kind %q, %d paragraphs", p.Name, p.Kind, len(p.Text))
		}
		for _, see := range p.See {
			if pages, _ := catalog.Explain(see); len(pages) == 0 {
				t.Errorf("%s names %s, which has no page", p.Name, see)
			}
		}
		for _, m := range command.FindAllStringSubmatch(strings.Join(p.Text, " "), -1) {
			if !slices.Contains([]string{"run", "list", "validate", "doctor", "baseline", "explain", "check", "advise"}, m[1]) {
				t.Errorf("%s names a command that there isn't: %s", p.Name, m[0])
			}
		}
	}
}

func TestExplain(t *testing.T) {
	for word, want := range map[string][]string{
		"fencing token":                 {"fencing token"},
		"Fencing_Tokens":                {"fencing token"},
		"lease":                         {"lease"},
		"ttl":                           {"TTL", "lock.ttl"},
		"gc-pause":                      {"GC pause"},
		"split brain":                   {"split brain"},
		"redlock":                       {"Redlock"},
		"mutex":                         {"mutex", "mutual-exclusion"},
		"mutual-exclusion/double-grant": {"double-grant"},
		"lt105":                         {"LT105"},
		"quorum":                        {"quorum"},
		"fencing":                       {"fencing", "fencing token"},
		"redis/redlock":                 {"redis/redlock"},
	} {
		pages, _ := catalog.Explain(word)
		var got []string
		for _, p := range pages {
			got = append(got, p.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", word, got, want)
		}
	}
	for word, want := range map[string]string{"redlok": "Redlock", "fensing token": "fencing token", "partitoin": "partition", "brain": "split brain", "xyzzyx": ""} {
		pages, near := catalog.Explain(word)
		if len(pages) > 0 || want == "" && len(near) > 0 || want != "" && !slices.Contains(near, want) {
			t.Errorf("%q: %d pages, near it %v", word, len(pages), near)
		}
	}
}

// Whatever stands in a scenario file has a page: by its path, as --set has it, and by the key alone.
func TestEveryKeyIsExplained(t *testing.T) {
	must := func(word string) {
		t.Helper()
		if pages, near := catalog.Explain(word); len(pages) == 0 {
			t.Errorf("%q isn't explained; near it: %v", word, near)
		}
	}
	for _, f := range scenarios.Fields() {
		must(f.Path)
		must(f.Key())
	}
	var walk func(v any)
	walk = func(v any) { // the schema that editors are given
		switch v := v.(type) {
		case map[string]any:
			if keys, ok := v["properties"].(map[string]any); ok {
				for key := range keys {
					must(key)
				}
			}
			for _, sub := range v {
				walk(sub)
			}
		case []any:
			for _, sub := range v {
				walk(sub)
			}
		}
	}
	var schema any
	if err := json.Unmarshal(scenarios.Schema(catalog.Names()), &schema); err != nil {
		t.Fatal(err)
	}
	walk(schema)
	for _, word := range []string{"run.settle", "evidence.min-hits", "faults[2].for", "faults[1].pause.only", "faults.pause.only", "expect.fencing.because", "expect.mutual-exclusion/stale-holder.verdict", "thresholds.acquire.p99.max"} {
		must(word)
	}
	names := catalog.Names()
	for name := range names.Metrics {
		must(name)
	}
	for name := range names.Clusters {
		must(name)
	}
	for name := range names.Resources {
		must(name)
	}
	for name := range names.Stores {
		must(name)
	}
	for _, word := range []string{"run.setle", "evidence.min-hit", "min-hist", "handovr"} {
		if pages, near := catalog.Explain(word); len(pages) > 0 && word != "evidence.min-hit" || len(pages) == 0 && len(near) == 0 {
			t.Errorf("%q: %d pages, near it %v", word, len(pages), near)
		}
	}
}

// Words of reports and of flags that a first reader asks for.
func TestWordsOfReportsAreExplained(t *testing.T) {
	for _, word := range []string{"provider", "strategy", "drift", "section", "ongoing", "pooled", "entitled", "possible cause", "Wilson", "Wilson interval", "the host stalled", "host stall", "--section"} {
		if pages, _ := catalog.Explain(word); len(pages) == 0 {
			t.Errorf("%q isn't explained", word)
		}
	}
}
