package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// On a terminal the questions are asked, and the answers come back as flags that give the same advice.
func TestDialogue(t *testing.T) {
	status, screen := dialogue(t, "advise", "?\r", "4\r", "redis\r", "y\r", "n\r", "n\r", "n\r", "n\r", "5\r", "200ms\r", "2s\r", "\r", "n\r", "n\r")
	if status != 0 || !strings.Contains(screen, "[2] ") || !strings.Contains(screen, "  1: all who want it") || !strings.Contains(screen, "Strategy: single") {
		t.Fatalf("exit status %d:\n%s", status, screen)
	}
	again := regexp.MustCompile(`The same again\s+locktest (.*)`).FindStringSubmatch(screen)
	if again == nil {
		t.Fatalf("no flags:\n%s", screen)
	}
	r := locktest(t, strings.Fields(again[1])...)
	if r.status != 0 || !strings.Contains(screen, r.stdout) {
		t.Errorf("%s: exit status %d:\n%s\nand the dialogue:\n%s", again[1], r.status, r.stdout, screen)
	}
}

// Where the output goes to a file, the questions stay on the terminal.
func TestDialogueBesideAFile(t *testing.T) {
	for name, c := range map[string]struct{ flags, has string }{"a program": {"--code python", "# apt install python3-redis"}, "JSON": {"--json", "{\n"}, "words": {"", "Provider: redis\n"}} {
		file := filepath.Join(t.TempDir(), "out")
		status, screen := dialogue(t, "advise "+c.flags+" > "+file, "2\r", "\r", "redis\r", "n\r", "n\r", "n\r", "n\r", "200ms\r", "2s\r", "\r", "n\r", "n\r")
		out, err := os.ReadFile(file)
		if status != 0 || err != nil || !strings.HasPrefix(string(out), c.has) || strings.Contains(string(out), "[no]") || strings.Contains(string(out), "The same again") {
			t.Errorf("%s: exit status %d, %v:\n%s\n%s", name, status, err, screen, out)
		}
		if !strings.Contains(screen, "[2] ") || !strings.Contains(screen, "one of [etcd") || strings.Contains(screen, c.has) {
			t.Errorf("%s:\n%s", name, screen)
		}
	}
}

func TestDialogueEnds(t *testing.T) {
	for name, c := range map[string]struct {
		key  string
		want int
	}{"the end of the input": {"\x04", exitUsage}, "Ctrl-C": {"\x03", exitInterrupt}} {
		if status, screen := dialogue(t, "advise", "3\r", c.key); status != c.want || strings.Contains(screen, "Provider") {
			t.Errorf("%s: exit status %d, want %d:\n%s", name, status, c.want, screen)
		}
	}
}

// dialogue types keys on a terminal, each when a question stands there, and returns what the screen shows.
func dialogue(t *testing.T, command string, keys ...string) (status int, screen string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "script", "-qec", "exec "+self+" "+command, "/dev/null")
	cmd.Env = append(os.Environ(), mainArg+"=1", "SHELL=/bin/sh", "TERM=dumb")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: script is part of util-linux", err)
	}
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	var seen strings.Builder
	for b := make([]byte, 4096); ; {
		n, err := out.Read(b)
		seen.Write(b[:n])
		if len(keys) > 0 && (strings.HasSuffix(seen.String(), "] ") || strings.HasSuffix(seen.String(), ": ")) {
			io.WriteString(in, keys[0])
			keys = keys[1:]
		}
		if err != nil {
			break
		}
	}
	cmd.Wait()
	if len(keys) > 0 {
		t.Errorf("%q were never asked for", keys)
	}
	return cmd.ProcessState.ExitCode(), strings.ReplaceAll(seen.String(), "\r\n", "\n")
}
