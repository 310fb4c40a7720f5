package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/locktest/locktest"
)

// file is a Go file of this module.
type file struct {
	path string // from the root, with slashes
	set  *token.FileSet
	tree *ast.File
	test bool
}

func (f file) pkg() string { return filepath.ToSlash(filepath.Dir(f.path)) }

func (f file) lines() int { return f.set.File(f.tree.Pos()).LineCount() }

func load(t *testing.T) []file {
	t.Helper()
	var files []file
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "testdata" || d.Name() == "runs" || d.Name() == "bin" || d.Name() == "dist") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		files = append(files, file{filepath.ToSlash(rel), set, tree, strings.HasSuffix(path, "_test.go")})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("only %d files: the rules would hold for nothing", len(files))
	}
	return files
}

// allowed says what a package may import of this module; the longest prefix counts. internal/… is below everything.
var allowed = map[string][]string{
	"history":             {},
	"scenarios":           {},
	"cluster":             {},
	"cluster/":            {"cluster"},
	"cluster/clustertest": {"cluster", "cluster/"},
	"locks":               {"history"},
	"locks/":              {"locks", "history", "cluster", "locks/internal/"},
	"checker":             {"history"},
	"clients":             {"locks", "stores"},
	"workloads":           {"history", "locks", "clients", "checker"},
	"nemesis":             {"cluster", "history"},
	"runner":              {"workloads", "nemesis", "checker", "cluster", "locks", "clients", "history", "scenarios", "stores"},
	"baseline":            {"runner", "checker", "history"},
	"reports":             {"baseline", "runner", "checker", "cluster", "history", "scenarios"},
	"reports/":            {"runner", "checker", "history"},
	"catalog":             {""},
	"controls":            {""},
	"bench":               {""},
	"cmd/":                {"advise", "baseline", "catalog", "compare", "docs/results", "reports", "reports/", "runner", "scenarios", "checker", "history", "locks", "clients", "cluster"},
	"advise":              {},
	"compare":             {"runner", "checker", "history", "scenarios"},
	"docs/":               {"compare"},
	"locktesting":         {"catalog", "reports", "runner", "scenarios", "checker", "history", "locks"},
	"internal/":           {},

	"stores":            {},
	"stores/":           {"stores"},
	"stores/storestest": {"stores", "cluster", "cluster/"},
}

func TestImportDirection(t *testing.T) {
	for _, f := range load(t) {
		if f.test {
			continue // a test may look at the whole
		}
		for _, spec := range f.tree.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			ours, ok := strings.CutPrefix(path, module+"/")
			if !ok || strings.HasPrefix(ours, "internal/") {
				continue
			}
			if !mayImport(f.pkg(), ours) {
				t.Errorf("%s imports %s", f.path, ours)
			}
		}
	}
}

func mayImport(pkg, other string) bool {
	best := ""
	for p := range allowed {
		if (pkg == p || strings.HasSuffix(p, "/") && strings.HasPrefix(pkg, p)) && len(p) > len(best) {
			best = p
		}
	}
	return slices.ContainsFunc(allowed[best], func(a string) bool {
		return a == "" || other == a || strings.HasSuffix(a, "/") && strings.HasPrefix(other, a)
	})
}

// Limits on length. A table of names may be longer than code.
const (
	functionLines = 70
	fileLines     = 400
)

func TestLength(t *testing.T) {
	for _, f := range load(t) {
		if n := f.lines(); n > fileLines && !f.test {
			t.Errorf("%s has %d lines, the limit is %d", f.path, n, fileLines)
		}
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || f.test || isTable(fn) {
				continue
			}
			if n := f.set.Position(fn.End()).Line - f.set.Position(fn.Pos()).Line + 1; n > functionLines {
				t.Errorf("%s: %s has %d lines, the limit is %d", f.path, fn.Name.Name, n, functionLines)
			}
		}
	}
}

// isTable says whether a function does nothing but return a value that is written out.
func isTable(fn *ast.FuncDecl) bool {
	if fn.Body == nil || len(fn.Body.List) != 1 {
		return false
	}
	ret, ok := fn.Body.List[0].(*ast.ReturnStmt)
	return ok && len(ret.Results) == 1
}

func TestNoInitAndNoBlankImports(t *testing.T) {
	for _, f := range load(t) {
		for _, d := range f.tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s has an init function: what a scenario can use stands in the catalogue", f.path)
			}
		}
		for _, spec := range f.tree.Imports {
			if spec.Name != nil && spec.Name.Name == "_" && spec.Path.Value != `"embed"` {
				t.Errorf("%s imports %s for its side effects", f.path, spec.Path.Value)
			}
		}
	}
}

var globalRandom = regexp.MustCompile(`(^|[^.\w])rand\.(Int|IntN|Int32|Int32N|Int64|Int64N|Uint|UintN|Uint32|Uint32N|Uint64|Uint64N|Float32|Float64|Perm|Shuffle|N|Seed|NormFloat64|ExpFloat64)\(`)

func TestNoGlobalRandomness(t *testing.T) {
	for _, f := range load(t) {
		for _, spec := range f.tree.Imports {
			if path := spec.Path.Value; path != `"math/rand/v2"` && path != `"math/rand"` {
				continue
			}
			for i, line := range readLines(t, f.path) {
				if globalRandom.MatchString(line) && !strings.Contains(line, "func ") {
					t.Errorf("%s:%d draws from the global source: %s", f.path, i+1, strings.TrimSpace(line))
				}
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	has := map[string]bool{}
	for _, f := range load(t) {
		if f.test {
			continue
		}
		if _, ok := has[f.pkg()]; !ok {
			has[f.pkg()] = false
		}
		if f.tree.Doc != nil && len(f.tree.Doc.Text()) > 60 {
			has[f.pkg()] = true
		}
	}
	for pkg, ok := range has {
		if !ok {
			t.Errorf("package %s has no comment that says what it is and what it doesn't know", pkg)
		}
	}
}

var caughtBy = regexp.MustCompile(`(?m)^Caught by: ([a-z-]+)$`)

// Each broken lock says by which property it is caught, and has the scenario that shows it.
func TestBrokenLocks(t *testing.T) {
	n := 0
	for _, f := range load(t) {
		if f.pkg() != "locks/broken" || f.test || slices.Contains([]string{"broken.go", "etcd.go", "postgres.go", "zookeeper.go"}, filepath.Base(f.path)) {
			continue // what the mistakes on one kind of server have in common
		}
		n++
		name := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(f.path), ".go"), "_", "-")
		text := ""
		for _, c := range f.tree.Comments {
			text += c.Text()
		}
		m := caughtBy.FindStringSubmatch(text)
		if m == nil {
			t.Errorf("%s doesn't say by which property it is caught (Caught by: PROPERTY)", f.path)
			continue
		}
		scenario, err := os.ReadFile(filepath.Join(root, "scenarios/broken", name+".yaml"))
		if err != nil {
			t.Errorf("%s has no scenario: %v", f.path, err)
			continue
		}
		if want := fmt.Sprintf("%s: { verdict: violated", m[1]); !strings.Contains(string(scenario), want) {
			t.Errorf("scenarios/broken/%s.yaml doesn't expect the violation of %s that %s names", name, m[1], f.path)
		}
	}
	if n == 0 {
		t.Error("there are no broken locks")
	}
}

// A test that needs what isn't there fails with the remedy: a skip would go unseen. Those listed need something that no
// machine can be asked to have, and say so.
func TestNothingIsSkipped(t *testing.T) {
	unfinished := regexp.MustCompile(`\b(TODO|FIXME|XXX)\b|not implemented`)
	may := map[string]string{
		"cluster/clustertest/clustertest.go": "a kind of cluster need not have every power",
		"checker/bench_test.go":              "the half of a benchmark that runs in a process of its own",
		"checker/foreign_test.go":            "third-party histories that aren't part of the repository",
	}
	for _, f := range load(t) {
		if f.pkg() == "internal/tidy" {
			continue
		}
		for i, line := range readLines(t, f.path) {
			if strings.Contains(line, "t.Skip") && may[f.path] == "" && !strings.Contains(line, "testing.Short") {
				t.Errorf("%s:%d skips a test", f.path, i+1)
			}
			if unfinished.MatchString(line) {
				t.Errorf("%s:%d is unfinished: %s", f.path, i+1, strings.TrimSpace(line))
			}
		}
	}
}

func TestModule(t *testing.T) {
	mod := strings.Join(readLines(t, "go.mod"), "\n")
	if !strings.Contains(mod, "github.com/Shopify/toxiproxy/v2 v2.12.0") {
		t.Error("toxiproxy is not at v2.12.0: go mod tidy chooses an older one, write the line by hand")
	}
	if strings.Contains(mod, "\nreplace ") {
		t.Error("go.mod has a replace line: go install would refuse it")
	}
}

func readLines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(b), "\n")
}
