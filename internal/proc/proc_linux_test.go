package proc_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/internal/proc"
)

func TestKilledHarnessLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(self())
	cmd.Env = append(os.Environ(), partEnv+"=harness", "LOCKTEST_PROC_TEST_DIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "started\n" {
		t.Fatalf("the harness said %q", line)
	}
	pids := append(readPids(t, filepath.Join(dir, "a")), readPids(t, filepath.Join(dir, "b"))...)
	for _, pid := range pids {
		if gone(pid) {
			t.Fatalf("process %d of %v is gone before the harness is", pid, pids)
		}
	}

	cmd.Process.Kill()
	eventually(t, 30*time.Second, "every process of the killed harness is gone", func() bool { return gone(pids...) })
	cmd.Wait()
	eventually(t, 30*time.Second, "the supervisor is gone", func() bool { return len(supervisors()) == 0 })
	if exists(filepath.Join(dir, proc.TempPrefix+"data")) {
		t.Error("the harness's temporary folder is left")
	}
	if said, err := os.ReadFile(filepath.Join(dir, "bereft")); err != nil || string(said) != "true" {
		t.Errorf("the supervisor's last deed: %q, %v; want it done once the harness was gone", said, err)
	}
}

// supervisors are those of this test binary that run now.
func supervisors() (pids []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		exe, _ := os.Readlink(filepath.Dir(f) + "/exe")
		if strings.Contains(string(b), partEnv+"=supervisor") && exe == self() {
			pids = append(pids, f)
		}
	}
	return pids
}

func TestSupervisor(t *testing.T) {
	t.Run("ends with the spawner", func(t *testing.T) {
		s := newSpawner(t)
		if n := len(supervisors()); n != 1 {
			t.Fatalf("%d supervisors, want 1", n)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left := supervisors(); len(left) != 0 {
			t.Errorf("supervisors left: %v", left)
		}
	})
	t.Run("ignores interrupts", func(t *testing.T) {
		r, w := io.Pipe()
		cmd := exec.Command(self())
		cmd.Env = append(os.Environ(), partEnv+"=supervisor")
		cmd.Stdin = r
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		bufio.NewReader(out).ReadString('\n')
		for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
			cmd.Process.Signal(sig)
		}
		fmt.Fprintln(w, "end")
		w.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("it ended with %v, want a clean end", err)
		}
	})
	t.Run("a program that isn't one is refused", func(t *testing.T) {
		_, err := proc.NewSpawner(proc.Options{Supervisor: proc.Supervisor{Path: "/bin/echo", Args: []string{"hello"}}})
		if err == nil || !strings.Contains(err.Error(), `"hello\n"`) {
			t.Errorf("error %v, want one that quotes what was said", err)
		}
	})
}

func TestPauseStopsTheWholeTree(t *testing.T) {
	s := newSpawner(t)
	p, pids := startFamily(t, s)
	orphan := pids[3] // has no parent here any more, so that only Close finds it
	ctx := context.Background()
	for _, round := range []string{"first", "second"} {
		if err := p.Pause(ctx); err != nil {
			t.Fatal(err)
		}
		for _, pid := range pids {
			if s := state(pid); pid != orphan && !isOrphan(pid) && s != "T" {
				t.Errorf("%s pause: process %d is in state %q, want T", round, pid, s)
			}
		}
		if err := p.Resume(ctx); err != nil {
			t.Fatal(err)
		}
		for _, pid := range pids {
			if s := state(pid); s == "T" {
				t.Errorf("%s resume: process %d is still stopped", round, pid)
			}
		}
	}
}

// isOrphan says whether pid was adopted by another process than its family.
func isOrphan(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	rest := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	parent, _ := os.ReadFile("/proc/" + rest[1] + "/comm")
	return strings.TrimSpace(string(parent)) != "sh"
}

func TestPausedProcessWithManyThreadsStandsStill(t *testing.T) {
	s := newSpawner(t)
	p := start(t, s, proc.Command{Path: self(), Env: []string{partEnv + "=deaf"}, Stdout: true})
	if line, _ := bufio.NewReader(p.Stdout()).ReadString('\n'); line != "deaf\n" {
		t.Fatalf("it said %q", line)
	}
	if err := p.Pause(context.Background()); err != nil {
		t.Fatal(err)
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.Pid()))
	if err != nil || len(tasks) < 2 {
		t.Fatalf("%d threads, want several (%v)", len(tasks), err)
	}
	for _, f := range tasks {
		b, _ := os.ReadFile(f)
		if !strings.Contains(string(b), ") T ") {
			t.Errorf("a thread isn't stopped: %s", b)
		}
	}
}

func TestKill(t *testing.T) {
	ctx := context.Background()
	tests := []struct {
		name   string
		before func(*testing.T, *proc.Process)
	}{
		{"running", func(*testing.T, *proc.Process) {}},
		{"paused", func(t *testing.T, p *proc.Process) {
			if err := p.Pause(ctx); err != nil {
				t.Fatal(err)
			}
		}},
		{"twice", func(t *testing.T, p *proc.Process) {
			if err := p.Kill(ctx); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSpawner(t)
			p, pids := startFamily(t, s)
			tt.before(t, p)
			if err := p.Kill(ctx); err != nil {
				t.Fatal(err)
			}
			select {
			case <-p.Done():
			default:
				t.Error("not reaped when Kill returned")
			}
			for _, pid := range pids {
				if !isOrphan(pid) {
					eventually(t, 30*time.Second, fmt.Sprintf("process %d is gone", pid), func() bool { return gone(pid) })
				}
			}
			if err := p.ExitErr(); err == nil || !strings.Contains(err.Error(), "signal 9") {
				t.Errorf("ExitErr() = %v, want signal 9", err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if !gone(pids...) {
				t.Error("the spawner was closed and something is left")
			}
		})
	}
}

func TestExitErr(t *testing.T) {
	s := newSpawner(t)
	tests := []struct {
		name, script, want string
	}{
		{"status 0", "exit 0", "<nil>"},
		{"status 3", "exit 3", "it exited with status 3"},
		{"signal", "kill -TERM $$", "it was killed by signal 15 (terminated)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := start(t, s, proc.Command{Path: "/bin/sh", Args: []string{"-c", tt.script}})
			if got := fmt.Sprint(p.Wait(context.Background())); got != tt.want {
				t.Errorf("Wait() = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestPipesAndLog(t *testing.T) {
	s := newSpawner(t)
	log := filepath.Join(t.TempDir(), "log")
	script := `for i in 1 2 3 4; do echo err$i >&2; done; while read l; do echo "got $l"; done; echo last`
	p := start(t, s, proc.Command{Path: "/bin/sh", Args: []string{"-c", script}, Log: log, Stdin: true, Stdout: true})
	fmt.Fprintln(p.Stdin(), "hello")
	p.Stdin().Close()
	if err := p.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(p.Stdout()) // after the end: nothing of it may be lost
	if err != nil || string(out) != "got hello\nlast\n" {
		t.Errorf("stdout %q (%v)", out, err)
	}
	if diff := cmp.Diff([]string{"err3", "err4"}, p.LogTail(2)); diff != "" {
		t.Errorf("log tail (-want +got):\n%s", diff)
	}
}

func TestTail(t *testing.T) {
	long := strings.Repeat(strings.Repeat("x", 99)+"\n", 2000)
	tests := []struct {
		name, text string
		n          int
		want       []string
	}{
		{"empty", "", 3, nil},
		{"fewer lines than asked for", "a\nb\n", 3, []string{"a", "b"}},
		{"no newline at the end", "a\nb\nc", 2, []string{"b", "c"}},
		{"none asked for", "a\n", 0, nil},
		{"more than is read", long + "end\n", 2, []string{strings.Repeat("x", 99), "end"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := proc.Tail(file, tt.n)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := proc.Tail(filepath.Join(t.TempDir(), "absent"), 1); err == nil {
		t.Error("no error for a file that isn't there")
	}
}

func TestStartErrors(t *testing.T) {
	s := newSpawner(t)
	if _, err := s.Start(proc.Command{Path: "/nonexistent/server"}); err == nil || !strings.Contains(err.Error(), "/nonexistent/server") {
		t.Errorf("error %v, want one that names the program", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Start(proc.Command{Path: "/bin/true"}); err == nil {
		t.Error("a closed spawner started something")
	}
}

func TestOwnerNamesWhoListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	want := fmt.Sprintf("pid %d", os.Getpid())
	if got := proc.Owner(port); !strings.HasSuffix(got, want) {
		t.Errorf("Owner(%d) = %q, want it to end in %q", port, got, want)
	}
	l.Close()
	if got := proc.Owner(port); got != "" {
		t.Errorf("Owner of a free port = %q", got)
	}
	s := newSpawner(t)
	p := start(t, s, proc.Command{Path: "/bin/sleep", Args: []string{"1000"}})
	if listens, known := p.Listens(port); listens || !known {
		t.Errorf("sleep listens: %v, known: %v", listens, known)
	}
}

func TestRemoveLater(t *testing.T) {
	s := newSpawner(t)
	dir := filepath.Join(t.TempDir(), proc.TempPrefix+"x")
	other := filepath.Join(t.TempDir(), "precious")
	for _, d := range []string{dir, other} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.RemoveLater(dir); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{other, proc.TempPrefix + "relative", "/", ""} {
		if err := s.RemoveLater(d); err == nil {
			t.Errorf("%q would have been removed", d)
		}
	}
	if !exists(dir) {
		t.Error("removed before its time")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if exists(dir) || !exists(other) {
		t.Errorf("after Close: ours is there: %v, the other: %v", exists(dir), exists(other))
	}
}

func TestManyStartsAndKillsAtOnce(t *testing.T) {
	s := newSpawner(t)
	errs := make(chan error)
	const n = 30
	for range n {
		go func() {
			p, err := s.Start(proc.Command{Path: "/bin/sleep", Args: []string{"1000"}})
			if err == nil {
				err = p.Kill(context.Background())
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
