//go:build tutorial

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")

// Every command of the README does what it says there, in folders with a copy of the scenarios. A build of this tree stands for
// `go run`; what is to be installed is only parsed; names that stand for something are replaced by it.
func TestTutorialReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, b := range commandBlock.FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, b[2])
	}
	questions := yamlBlock.FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 4 || len(questions) != 1 {
		t.Fatalf("%d blocks of commands and %d of YAML, want 4 and 1: say here what is to be done with them", len(blocks), len(questions))
	}
	for i, want := range []int{0, 0, 1} { // the third is the violation
		t.Run(fmt.Sprintf("block %d", i+1), func(t *testing.T) {
			t.Parallel()
			newReader(t, questions[0][1]).follow(blocks[i], want)
		})
	}
	t.Run("what you can type", func(t *testing.T) {
		t.Parallel()
		r := newReader(t, questions[0][1])
		r.locktest(0, "run", "quickstart")
		r.locktest(1, "run", "broken/bare-del", "--set", "expect={}")
		r.follow(blocks[3], 0)
	})
	t.Run("a scenario is one question", func(t *testing.T) {
		t.Parallel()
		newReader(t, questions[0][1]).locktest(0, "run", "my.yaml")
	})
}

// reader is someone who types what the README says.
type reader struct {
	t   *testing.T
	dir string
}

func newReader(t *testing.T, question string) *reader {
	t.Helper()
	r := &reader{t, t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(r.dir, "scenarios"), os.DirFS("../../scenarios")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"my.yaml":      question,
		"bin/locktest": "#!/bin/sh\nLOCKTEST_TEST_MAIN=1 exec " + self + ` "$@"` + "\n",
		"bin/xdg-open": "#!/bin/sh\ntest -s \"$1\" && echo opened \"$1\" >>opened.txt\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(r.dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// follow types the lines of a block; all have to end with the same status.
func (r *reader) follow(block string, want int) {
	r.t.Helper()
	for line := range strings.Lines(block) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "   #")
		line, _, _ = strings.Cut(line, "  #")
		if strings.HasPrefix(line, "make ") {
			r.bash(0, "make -n -C "+r.root()+" "+strings.TrimPrefix(line, "make "))
			continue
		}
		r.bash(want, r.meant(line))
	}
}

func (r *reader) root() string {
	root, err := filepath.Abs("../..")
	if err != nil {
		r.t.Fatal(err)
	}
	return root
}

// meant is a line with what its placeholders stand for. All scenarios of the matrix take minutes: one stands for them.
func (r *reader) meant(line string) string {
	line = strings.NewReplacer(
		"go run ./cmd/locktest ", "locktest ",
		"SCENARIO...", "contention", "SCENARIO", "quickstart", "--repeat 5", "--repeat 2",
		"scenarios/matrix/*.yaml", "scenarios/matrix/timeout.yaml",
		"--because TEXT", "--because 'it is broken on purpose'",
	).Replace(line)
	if strings.Contains(line, "runs/A runs/B") {
		runs := r.runs()
		line = strings.Replace(line, "runs/A runs/B", runs[0]+" "+runs[1], 1)
	}
	return line
}

func (r *reader) runs() []string {
	found, err := filepath.Glob(filepath.Join(r.dir, "runs", "2*"))
	if err != nil || len(found) < 2 {
		r.t.Fatalf("runs %v, %v: want two", found, err)
	}
	slices.Sort(found)
	return found
}

func (r *reader) locktest(want int, args ...string) {
	r.t.Helper()
	r.run(want, exec.Command(filepath.Join(r.dir, "bin", "locktest"), args...))
}

func (r *reader) bash(want int, script string) {
	r.t.Helper()
	r.run(want, exec.Command("bash", "-eu", "-c", script))
}

func (r *reader) run(want int, cmd *exec.Cmd) {
	r.t.Helper()
	cmd.Dir = r.dir
	// Who types at a terminal is no CI, where nothing is opened.
	cmd.Env = append(os.Environ(), "CI=", "PATH="+filepath.Join(r.dir, "bin")+":"+os.Getenv("PATH"))
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != want {
		r.t.Errorf("exit status %d, want %d, of\n%s\n%s", got, want, strings.Join(cmd.Args, " "), out)
	}
	if strings.Contains(strings.Join(cmd.Args, " "), "--open") {
		r.opened()
	}
}

// opened waits for the browser, which is started and left alone.
func (r *reader) opened() {
	r.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(r.dir, "opened.txt"))
		if err == nil && len(text) > 0 {
			return
		}
		if time.Now().After(end) {
			r.t.Fatalf("nothing was opened in 30 s: %v", err)
		}
	}
}
