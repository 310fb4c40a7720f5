// Command mutate changes the comparisons of the sweep and of the general engine, one at a time, and runs the tests of
// package checker on each change. A change that no test notices is a survivor: it fails the run unless survivors.txt
// lists it with a reason. The tree isn't touched: the changed file is laid over it.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// files hold the sweep and the general engine.
var files = [...]string{
	"holds.go", "retired.go", "settled.go", "sweep.go", "sweeppermits.go", "sweeprw.go", "frontier.go", "frontiersets.go", "deeds.go",
}

func main() {
	dir := flag.String("dir", "checker", "the package's folder")
	only := flag.String("only", "", "of the files, those whose name has this in it")
	fuzz := flag.String("fuzz", "3000", "random histories for each model")
	flag.Parse()
	if err := run(*dir, *only, *fuzz); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// mutant is one change.
type mutant struct {
	file string
	at   token.Position
	fn   string // the function that it is in
	from string // the comparison as it was
	to   string // and as it is
	text []byte // of the whole file
}

// key names a mutant in survivors.txt, whatever line it is on.
func (m *mutant) key() string { return fmt.Sprintf("%s %s: %s -> %s", m.file, m.fn, m.from, m.to) }

func run(dir, only, fuzz string) error {
	excused, err := survivors(filepath.Join(dir, "mutate", "survivors.txt"))
	if err != nil {
		return err
	}
	if err := test(context.Background(), dir, fuzz, ""); err != nil {
		return fmt.Errorf("the tests fail without any change: %w", err)
	}
	all, killed, listed, bad := 0, 0, 0, 0
	for _, file := range files {
		if !strings.Contains(file, only) {
			continue
		}
		ms, err := mutants(dir, file)
		if err != nil {
			return err
		}
		for i := range ms {
			all++
			switch dead, err := try(dir, fuzz, &ms[i]); {
			case err != nil:
				return err
			case dead:
				killed++
			case excused[ms[i].key()] != "":
				listed++
				fmt.Printf("listed    %s:%d  %s: %s\n", file, ms[i].at.Line, ms[i].key(), excused[ms[i].key()])
			default:
				bad++
				fmt.Printf("SURVIVED  %s:%d  %s\n", file, ms[i].at.Line, ms[i].key())
			}
		}
	}
	fmt.Printf("%d changes: %d noticed, %d listed with a reason, %d survived\n", all, killed, listed, bad)
	if bad > 0 {
		return fmt.Errorf("%d changes went unnoticed", bad)
	}
	return nil
}

// survivors reads lines of "KEY | REASON".
func survivors(path string) (map[string]string, error) {
	out := map[string]string{}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	sc := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, reason, ok := strings.Cut(line, " | ")
		if !ok || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s:%d: want KEY | REASON", path, n)
		}
		out[strings.TrimSpace(key)] = strings.TrimSpace(reason)
	}
	return out, sc.Err()
}

// other is what a comparison is changed to: the same with or without equality, or the opposite.
func other(op token.Token) (token.Token, bool) {
	switch op {
	case token.LSS:
		return token.LEQ, true
	case token.LEQ:
		return token.LSS, true
	case token.GTR:
		return token.GEQ, true
	case token.GEQ:
		return token.GTR, true
	case token.EQL:
		return token.NEQ, true
	case token.NEQ:
		return token.EQL, true
	}
	return op, false
}

func mutants(dir, file string) ([]mutant, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, filepath.Join(dir, file), nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var out []mutant
	for _, d := range tree.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		var failed error
		ast.Inspect(fn, func(n ast.Node) bool {
			b, ok := n.(*ast.BinaryExpr)
			if !ok {
				return true
			}
			to, ok := other(b.Op)
			if !ok {
				return true
			}
			m := mutant{file: file, at: set.Position(b.OpPos), fn: fn.Name.Name, from: spell(set, b)}
			was := b.Op
			b.Op = to
			m.to = spell(set, b)
			var text bytes.Buffer
			failed = printer.Fprint(&text, set, tree)
			b.Op = was
			m.text = text.Bytes()
			out = append(out, m)
			return failed == nil
		})
		if failed != nil {
			return nil, failed
		}
	}
	return out, nil
}

func spell(set *token.FileSet, n ast.Node) string {
	var b bytes.Buffer
	if printer.Fprint(&b, set, n) != nil {
		return "?"
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// try says whether the tests notice m.
func try(dir, fuzz string, m *mutant) (dead bool, err error) {
	tmp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	changed := filepath.Join(tmp, m.file)
	if err := os.WriteFile(changed, m.text, 0o600); err != nil {
		return false, err
	}
	original, err := filepath.Abs(filepath.Join(dir, m.file))
	if err != nil {
		return false, err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return false, err
	}
	path := filepath.Join(tmp, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		return false, err
	}
	return test(context.Background(), dir, fuzz, path) != nil, nil
}

// test runs what can notice a change, the quick first. A change that never ends is noticed by the time limit.
func test(ctx context.Context, dir, fuzz, overlay string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	args := []string{"test", "-count=1", "-failfast", "-timeout", "2m", "-run", "Golden|AgainstPorcupine|Engine|Budget|Places"}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+dir)...)
	cmd.Env = append(os.Environ(), "LOCKTEST_FUZZ="+fuzz)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}
