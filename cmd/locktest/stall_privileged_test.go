//go:build privileged

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const stalled = `lock: { use: redis/single, ttl: 1s }
cluster: { kind: process, persistence: aof-always }
workload: { use: counter, hold: 10ms..50ms, resource: checks-token }
faults:
  - { at: 300ms, for: 20s, stall: n1 }
`

// mountsUnder are the disks that are mounted below a folder.
func mountsUnder(t *testing.T, dir string) []string {
	t.Helper()
	table, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], dir+"/") {
			out = append(out, f[1])
		}
	}
	return out
}

// Whether the harness is killed or interrupted while a disk is frozen: servers that wait for it die, and it is unmounted.
func TestPrivilegedFrozenDiskOfADeadHarness(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			path := scenario(t, stalled)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.NewReplacer("duration: 1500ms", "duration: 60s", "settle: 700ms", "settle: 3s").Replace(string(b))
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd, _ := start(t, t.TempDir(), "fault 1 begins", "run", path)
			children := family(t, cmd.Process.Pid)
			if m := mountsUnder(t, tmp); len(m) != 1 || len(children) != 5 {
				t.Fatalf("one disk and five children are expected, found %v and %v", m, children)
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			remains := func() []string {
				dirs, err := filepath.Glob(filepath.Join(tmp, "locktest-*", "n1*"))
				if err != nil {
					t.Fatal(err)
				}
				return append(mountsUnder(t, tmp), dirs...)
			}
			for end := time.Now().Add(10 * time.Second); len(left(children)) > 0 || len(remains()) > 0; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("left behind after 10 s: %v, %v", left(children), remains())
				}
			}
		})
	}
}
