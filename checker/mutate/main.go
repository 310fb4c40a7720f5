// Command mutate changes the comparisons of the sweep and of the general engine, one at a time, and runs the tests of
// package checker on each change. A change that no test notices is a survivor: it fails the run unless survivors.txt
// lists it with a reason. The tree isn't touched: the changed file is laid over it.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// files hold the sweep and the general engine.
var files = [...]string{
	"holds.go", "retired.go", "settled.go", "sweep.go", "sweeppermits.go", "sweeprw.go", "frontier.go", "frontiersets.go", "deeds.go",
}

func main() {
	dir := flag.String("dir", "checker", "the package's folder")
	only := flag.String("only", "", "of the files, those whose name has this in it")
	fuzz := flag.String("fuzz", "800", "random histories for each model; ten times as many for what they did not notice")
	flag.Parse()
	if err := run(*dir, *only, *fuzz); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// mutant is one change.
type mutant struct {
	id       int
	file     string
	line     int
	fn       string // the function that it is in
	from, to string // the comparison as it was, and as it is
}

// key names a mutant in survivors.txt, whatever line it is on.
func (m *mutant) key() string { return fmt.Sprintf("%s %s: %s -> %s", m.file, m.fn, m.from, m.to) }

func run(dir, only, fuzz string) error {
	excused, err := survivors(filepath.Join(dir, "mutate", "survivors.txt"))
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	ms, binary, err := build(dir, tmp)
	if err != nil {
		return err
	}
	if out, err := test(binary, dir, fuzz, 0); err != nil {
		return fmt.Errorf("the tests fail without any change: %w\n%s", err, out)
	}
	all, killed, listed, bad := 0, 0, 0, 0
	for i := range ms {
		m := &ms[i]
		if !strings.Contains(m.file, only) {
			continue
		}
		all++
		_, err := test(binary, dir, fuzz, m.id)
		if err == nil && excused[m.key()] == "" { // once more, and harder
			_, err = test(binary, dir, fuzz+"0", m.id)
		}
		switch reason := excused[m.key()]; {
		case err != nil:
			killed++
		case reason != "":
			listed++
			fmt.Printf("listed    %s:%d  %s: %s\n", m.file, m.line, m.key(), reason)
		default:
			bad++
			fmt.Printf("SURVIVED  %s:%d  %s\n", m.file, m.line, m.key())
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

// build compiles the tests once, with each comparison in both forms and a switch between them.
func build(dir, tmp string) (ms []mutant, binary string, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, "", err
	}
	replace := map[string]string{filepath.Join(abs, "mutated.go"): filepath.Join(tmp, "mutated.go")}
	if err := os.WriteFile(filepath.Join(tmp, "mutated.go"), []byte(chooser), 0o600); err != nil {
		return nil, "", err
	}
	for _, file := range files {
		text, more, err := rewrite(filepath.Join(dir, file), file, len(ms))
		if err != nil {
			return nil, "", err
		}
		ms = append(ms, more...)
		changed := filepath.Join(tmp, file)
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			return nil, "", err
		}
		replace[filepath.Join(abs, file)] = changed
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return nil, "", err
	}
	path := filepath.Join(tmp, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		return nil, "", err
	}
	binary = filepath.Join(tmp, "mutated.test")
	out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", path, "-o", binary, "./"+dir).CombinedOutput()
	if err != nil {
		return nil, "", fmt.Errorf("compile: %w\n%s", err, out)
	}
	return ms, binary, nil
}

// chooser is laid over the package beside the changed files.
const chooser = `package checker

import (
	"os"
	"strconv"
)

var chosenMutant, _ = strconv.Atoi(os.Getenv("LOCKTEST_MUTANT"))

func mutated(id int, was, is bool) bool {
	if id == chosenMutant {
		return is
	}
	return was
}
`

// rewriter writes a file anew, comparison by comparison.
type rewriter struct {
	file  string
	text  string
	set   *token.FileSet
	all   []*ast.BinaryExpr // in the order of where they begin, the outer first
	fns   []string          // the functions that they are in
	found []mutant
	first int
}

func rewrite(path, file string, first int) (string, []mutant, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", nil, err
	}
	r := &rewriter{file: file, text: string(text), set: token.NewFileSet(), first: first}
	tree, err := parser.ParseFile(r.set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return "", nil, err
	}
	for _, d := range tree.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			if b, ok := n.(*ast.BinaryExpr); ok {
				if _, ok := other(b.Op); ok {
					r.all, r.fns = append(r.all, b), append(r.fns, fn.Name.Name)
				}
			}
			return true
		})
	}
	for i, b := range r.all {
		to, _ := other(b.Op)
		x, y := r.at(b.X), r.at(b.Y)
		r.found = append(r.found, mutant{
			id: first + i + 1, file: file, line: r.set.Position(b.OpPos).Line, fn: r.fns[i],
			from: flat(x + " " + b.Op.String() + " " + y), to: flat(x + " " + to.String() + " " + y),
		})
	}
	return r.emit(0, len(text), 0), r.found, nil
}

func (r *rewriter) offset(p token.Pos) int { return r.set.Position(p).Offset }

func (r *rewriter) at(n ast.Node) string { return r.text[r.offset(n.Pos()):r.offset(n.End())] }

func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// emit writes the text from from to to, with the comparisons in it from the i-th on.
func (r *rewriter) emit(from, to, i int) string {
	var b strings.Builder
	for ; i < len(r.all); i++ {
		c := r.all[i]
		start, end := r.offset(c.Pos()), r.offset(c.End())
		if start < from || end > to {
			if start >= to {
				break
			}
			continue
		}
		b.WriteString(r.text[from:start])
		x := r.emit(start, r.offset(c.X.End()), i+1)
		y := r.emit(r.offset(c.Y.Pos()), end, i+1)
		op, _ := other(c.Op)
		fmt.Fprintf(&b, "mutated(%d, %s %s %s, %s %s %s)", r.first+i+1, x, c.Op, y, x, op, y)
		from = end
	}
	b.WriteString(r.text[from:to])
	return b.String()
}

// memoryLimit is the address space that one test run may have, in bytes.
const memoryLimit = 6 << 30

// test runs what can notice a change, the quick first. A change that never ends is noticed by the time limit.
func test(binary, dir, fuzz string, id int) (string, error) {
	const limited = `ulimit -v "$1"; shift; exec "$@"` // a change that takes memory without end is noticed, before the machine does
	cmd := exec.Command("sh", "-c", limited, "sh", fmt.Sprint(memoryLimit>>10), binary, "-test.failfast", "-test.timeout", "2m", "-test.run", "Golden|AgainstPorcupine|Engine")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LOCKTEST_FUZZ="+fuzz, fmt.Sprintf("LOCKTEST_MUTANT=%d", id))
	out, err := cmd.CombinedOutput()
	return string(out), err
}
