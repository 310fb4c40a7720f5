//go:build unix

package proc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locktest/locktest/internal/proc"
)

// The test binary plays every part itself: supervisor, harness, and what they start.
const partEnv = "LOCKTEST_PROC_TEST_PART"

func TestMain(m *testing.M) {
	switch os.Getenv(partEnv) {
	case "":
		os.Exit(m.Run())
	case "supervisor":
		os.Exit(proc.Supervise(os.Stdin, os.Stdout, bereft()))
	case "harness":
		playHarness(os.Getenv("LOCKTEST_PROC_TEST_DIR"))
	case "deaf":
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
		fmt.Println("deaf")
		select {}
	}
}

// bereft notes, where a harness named its folder, whether that was gone.
func bereft() func(context.Context) error {
	dir, harness := os.Getenv("LOCKTEST_PROC_TEST_DIR"), os.Getppid()
	if dir == "" {
		return nil
	}
	return func(context.Context) error {
		return os.WriteFile(filepath.Join(dir, "bereft"), []byte(fmt.Sprint(os.Getppid() != harness)), 0o644)
	}
}

func self() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

func supervisor() proc.Supervisor {
	return proc.Supervisor{Path: self(), Env: []string{partEnv + "=supervisor"}}
}

// family is a shell with a child, a grandchild in a session of its own, and one that has lost its parent. It writes their
// pids to FILE.
func family(file string) proc.Command {
	script := `
sleep 1000 & echo $! >>"$1.new"
setsid sh -c 'sleep 1000 & echo $! >>"$1.new"; echo $$ >>"$1.new"; wait' sh "$1" &
(setsid sleep 1000 & echo $! >>"$1.new")
while [ "$(wc -l <"$1.new")" -lt 4 ]; do sleep 0.01; done
echo $$ >>"$1.new"
mv "$1.new" "$1"
wait`
	return proc.Command{Path: "/bin/sh", Args: []string{"-c", script, "sh", file}, Log: file + ".log"}
}

// playHarness starts two families, stops one of them, says so, and waits to be killed.
func playHarness(dir string) {
	s, err := proc.NewSpawner(proc.Options{Supervisor: supervisor()})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	data := filepath.Join(dir, proc.TempPrefix+"data", "n1")
	if err := errors.Join(os.MkdirAll(data, 0o755), s.RemoveLater(filepath.Dir(data))); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for _, name := range []string{"a", "b"} {
		p, err := s.Start(family(filepath.Join(dir, name)))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		for !exists(filepath.Join(dir, name)) {
			time.Sleep(time.Millisecond)
		}
		if name == "b" {
			if err := p.Pause(context.Background()); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
		}
	}
	fmt.Println("started")
	select {}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func newSpawner(t *testing.T) *proc.Spawner {
	t.Helper()
	s, err := proc.NewSpawner(proc.Options{Supervisor: supervisor()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func start(t *testing.T, s *proc.Spawner, c proc.Command) *proc.Process {
	t.Helper()
	p, err := s.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func startFamily(t *testing.T, s *proc.Spawner) (*proc.Process, []int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pids")
	p := start(t, s, family(file))
	eventually(t, 10*time.Second, "the family is complete", func() bool { return exists(file) })
	return p, readPids(t, file)
}

func readPids(t *testing.T, file string) []int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, f := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if len(pids) != 5 {
		t.Fatalf("a family of %d, want 5: %v", len(pids), pids)
	}
	return pids
}

// states reads what each process does: R running, S sleeping, T stopped, Z dead but not reaped; "" gone.
func state(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	rest := string(b[strings.LastIndexByte(string(b), ')')+1:])
	return strings.Fields(rest)[0]
}

func gone(pids ...int) bool {
	for _, pid := range pids {
		if s := state(pid); s != "" && s != "Z" && s != "X" {
			return false
		}
	}
	return true
}

func eventually(t *testing.T, limit time.Duration, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatalf("not within %v: %s", limit, what)
}
