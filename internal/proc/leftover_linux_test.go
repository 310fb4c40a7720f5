package proc

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// deadIdent is that of a process which has ended.
func deadIdent(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ident := Ident(cmd.Process.Pid)
	cmd.Process.Kill()
	cmd.Wait()
	return ident
}

// sleeper sleeps on in a session of its own, in a folder and with a harness's mark.
func sleeper(t *testing.T, dir, harness string) int {
	t.Helper()
	cmd := exec.Command("setsid", "sleep", "600")
	cmd.Dir, cmd.Env = dir, os.Environ()
	if harness != "" {
		cmd.Env = append(cmd.Env, harnessName+"="+harness)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd.Process.Pid
}

func TestLeftoversAreThoseOfTheDead(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	dead := deadIdent(t)
	deadDir, liveDir := filepath.Join(tmp, ownedPrefix+dead+"-123"), filepath.Join(tmp, ownedPrefix+OwnIdent()+"-123")
	for _, dir := range []string{deadDir, liveDir, filepath.Join(tmp, "locktest-ports-0"), filepath.Join(tmp, ownedPrefix+"x-1-2"), filepath.Join(tmp, "of-"+dead+"-1")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	marked, working := sleeper(t, "/", dead), sleeper(t, deadDir, "")
	others := []int{sleeper(t, "/", OwnIdent()), sleeper(t, liveDir, ""), sleeper(t, "/", "")}

	found, err := Leftovers()
	if err != nil {
		t.Fatal(err)
	}
	found = slices.DeleteFunc(found, func(l Leftover) bool { return l.Harness != dead && !slices.Contains(others, l.Pid) }) // of tests beside this one
	var pids []int
	var paths []string
	for _, l := range found {
		if l.Pid != 0 {
			pids = append(pids, l.Pid)
			if !strings.Contains(l.String(), "sleep 600") {
				t.Errorf("it is told as %v", l)
			}
			continue
		}
		paths = append(paths, l.Path)
	}
	slices.Sort(pids)
	if want := []int{min(marked, working), max(marked, working)}; !slices.Equal(pids, want) || !slices.Equal(paths, []string{deadDir}) {
		t.Errorf("left: processes %v, want %v; folders %v", pids, want, paths)
	}

	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := EndLeftovers(ctx, found); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{marked, working} {
		if alive, err := Lives(Ident(pid)); alive || err != nil {
			t.Errorf("process %d lives: %v, %v", pid, alive, err)
		}
	}
	for _, pid := range others {
		if alive, err := Lives(Ident(pid)); !alive || err != nil {
			t.Errorf("process %d of the living: %v, %v", pid, alive, err)
		}
	}
}

func TestSpawnedProcessesKnowTheirHarness(t *testing.T) {
	s, err := NewSpawner(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p, err := s.Start(Command{Path: "sleep", Args: []string{"600"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := variable(p.Pid(), harnessName); got != OwnIdent() {
		t.Errorf("harness %q, want %q", got, OwnIdent())
	}
}

func TestNamesWithAnOwner(t *testing.T) {
	dir, err := os.MkdirTemp(t.TempDir(), TempName())
	if err != nil {
		t.Fatal(err)
	}
	if ident, ok := ownerOf(filepath.Base(dir)); !ok || ident != OwnIdent() {
		t.Errorf("%s is of %q, %v", dir, ident, ok)
	}
	if err := checkTemp(dir); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"locktest-1-2-3", "locktest-of-", "locktest-of-1-2", "locktest-of--1-2", "locktest-of-a-1-2"} {
		if ident, ok := ownerOf(name); ok {
			t.Errorf("%s is of %q", name, ident)
		}
	}
	if Machine() == "" || Machine() != Machine() {
		t.Errorf("the machine is called %q", Machine())
	}
}
