//go:build tutorial

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var commandBlock = regexp.MustCompile("(?ms)^```sh([^\n]*)\n(.*?)^```")

// Every command of the tutorial does what the tutorial says, in an empty folder: bin/locktest is this program, and building it
// is left out.
func TestTutorial(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	wrapper := "#!/bin/sh\nLOCKTEST_TEST_MAIN=1 exec " + self + ` "$@"` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "bin", "locktest"), []byte(wrapper), 0o755); err != nil {
		t.Fatal(err)
	}
	blocks := commandBlock.FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 7 {
		t.Fatalf("%d command blocks", len(blocks))
	}
	for _, b := range blocks {
		want := 0
		if s, ok := strings.CutPrefix(strings.TrimSpace(b[1]), "exit="); ok {
			if want, err = strconv.Atoi(s); err != nil {
				t.Fatal(err)
			}
		}
		script := strings.ReplaceAll(b[2], "go build -o bin/locktest ./cmd/locktest\n", "")
		cmd := exec.Command("bash", "-eu", "-c", script)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("exit status %d, want %d (%v) of\n%s\n%s", got, want, err, script, out)
		}
	}
}
