//go:build privileged

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const holed = `lock: { use: redis/single, ttl: 1s }
cluster: { kind: process }
workload: { use: counter, hold: 10ms..50ms, resource: checks-token }
faults:
  - { at: 300ms, for: 20s, black-hole: c1 }
`

// Whether the harness is killed or interrupted while packets are dropped: no rule is left.
func TestPrivilegedBlackHoleOfADeadHarness(t *testing.T) {
	rules := func(pid int) string {
		out, err := exec.Command("iptables-save", "-t", "filter").Output()
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, fmt.Sprintf("lt-hole-%d-", pid)) {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "")
	}
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			path := scenario(t, holed)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.NewReplacer("duration: 1500ms", "duration: 60s", "settle: 700ms", "settle: 3s").Replace(string(b))
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd, _ := start(t, t.TempDir(), "fault 1 begins", "run", path)
			pid := cmd.Process.Pid
			for end := time.Now().Add(10 * time.Second); !strings.Contains(rules(pid), "DROP"); time.Sleep(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("no packet is dropped after 10 s:\n%s", rules(pid))
				}
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			for end := time.Now().Add(20 * time.Second); rules(pid) != ""; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("left behind after 20 s:\n%s", rules(pid))
				}
			}
		})
	}
}
