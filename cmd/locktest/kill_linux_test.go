package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locktest/locktest/history"
)

// start runs the command as a process of its own, and returns once its log says the words.
func start(t *testing.T, dir, until string, args ...string) (cmd *exec.Cmd, out *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(self, append(args, "--run-dir", dir)...)
	cmd.Env = append(os.Environ(), mainArg+"=1")
	out = &bytes.Buffer{}
	cmd.Stdout = out
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	var seen strings.Builder
	for sc := bufio.NewScanner(log); sc.Scan(); {
		fmt.Fprintln(&seen, sc.Text())
		if strings.Contains(sc.Text(), until) {
			go func() { // the rest must not fill the pipe
				for sc.Scan() {
				}
			}()
			return cmd, out
		}
	}
	t.Fatalf("the log ended before %q:\n%s", until, seen.String())
	return nil, nil
}

const long = `lock: { use: redis/single, ttl: 1s }
workload: { use: counter, hold: 10ms..50ms, resource: checks-token }
faults:
  - { at: 300ms, for: 20s, pause: n1 }
`

// process is one that was alive, told from a later one with the same number by its start.
type process struct{ pid, start, command string }

// stat returns the state, the parent and the start of a process; ok is false once it is gone or only waits to be reaped.
func stat(pid string) (parent, start string, ok bool) {
	b, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	i := bytes.LastIndexByte(b, ')')
	if err != nil || i < 0 {
		return "", "", false
	}
	f := strings.Fields(string(b[i+1:]))
	return f[1], f[19], f[0] != "Z" && f[0] != "X"
}

// family returns the living children of a harness.
func family(t *testing.T, harness int) []process {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var out []process
	for _, d := range dirs {
		pid := filepath.Base(d)
		if parent, start, ok := stat(pid); ok && parent == fmt.Sprint(harness) {
			cmdline, _ := os.ReadFile(filepath.Join(d, "cmdline"))
			out = append(out, process{pid, start, string(bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '}))})
		}
	}
	return out
}

// left returns those that still live.
func left(ps []process) []process {
	var out []process
	for _, p := range ps {
		if _, start, ok := stat(p.pid); ok && start == p.start {
			out = append(out, p)
		}
	}
	return out
}

func longRun(t *testing.T) string {
	path := scenario(t, long)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Replace(b, []byte("duration: 1500ms"), []byte("duration: 60s"), 1)
	b = bytes.Replace(b, []byte("settle: 700ms"), []byte("settle: 3s"), 1)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// A harness that is killed leaves nothing behind but a history that can be judged; servers that were stopped die too.
func TestKilledHarness(t *testing.T) {
	dir := t.TempDir()
	cmd, _ := start(t, dir, "fault 1 begins", "run", longRun(t))
	pid := cmd.Process.Pid
	children := family(t, pid)
	if len(children) != 5 {
		t.Fatalf("a server, three clients and a supervisor are expected, found: %v", children)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	const limit = 30 * time.Second // far above what it takes: nothing promises how soon
	end := time.Now().Add(limit)
	for len(left(children)) > 0 {
		if time.Now().After(end) {
			t.Fatalf("left behind after %v: %v", limit, left(children))
		}
		time.Sleep(20 * time.Millisecond) // polled, until the deadline above
	}
	runs, err := listRuns(dir)
	if err != nil || len(runs) != 1 {
		t.Fatalf("%v: %v", err, runs)
	}
	h, err := history.LoadJSONL(filepath.Join(dir, runs[0], "history.jsonl"))
	if err != nil || len(h.Ops) < 4 {
		t.Fatalf("%v, %d events", err, len(h.Ops))
	}
	r := locktest(t, "check", runs[0], "--run-dir", dir)
	if r.status != 2 || !strings.Contains(r.stdout, "INCONCLUSIVE") || !strings.Contains(r.stdout, "mutual exclusion") {
		t.Errorf("check: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
}

// Ctrl-C: what was harmed is healed, what was recorded is judged.
func TestInterrupted(t *testing.T) {
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := t.TempDir()
			cmd, out := start(t, dir, "fault 1 begins", "run", longRun(t), "--json")
			children := family(t, cmd.Process.Pid)
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != want {
				t.Errorf("exit status %d, want %d", got, want)
			}
			var doc struct {
				Interrupted string           `json:"interrupted"`
				Properties  []map[string]any `json:"properties"`
			}
			if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if doc.Interrupted == "" || len(doc.Properties) == 0 {
				t.Errorf("interrupted %q, %d properties", doc.Interrupted, len(doc.Properties))
			}
			h, err := history.LoadJSONL(filepath.Join(dir, "latest", "history.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			begun, ended := 0, 0
			for _, op := range h.Ops {
				switch op.Type {
				case history.FaultBegin:
					begun++
				case history.FaultEnd:
					ended++
				}
			}
			if begun != 1 || ended != 1 {
				t.Errorf("%d faults began, %d were healed", begun, ended)
			}
			if rest := left(children); len(children) != 5 || len(rest) > 0 {
				t.Errorf("of %v are left: %v", children, rest)
			}
		})
	}
}

// A server that dies by itself ends the run: it would look like one that was killed. What was recorded is judged.
func TestServerDiesInTheRun(t *testing.T) {
	dir := t.TempDir()
	cmd, out := start(t, dir, "phase: faults", "run", longRun(t), "--json", "--set", "faults=[]", "--on", "process")
	for _, p := range family(t, cmd.Process.Pid) {
		if strings.Contains(p.command, "redis-server") {
			pid, err := strconv.Atoi(p.pid)
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd.Wait()
	var doc struct {
		Error      struct{ Code, Message string }
		Properties []any
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := cmd.ProcessState.ExitCode(); got != 69 || doc.Error.Code != "LT103" || len(doc.Properties) == 0 {
		t.Errorf("status %d, error %+v, %d properties", got, doc.Error, len(doc.Properties))
	}
}
