//go:build unix && !linux

package proc

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// childAttr: a group of its own. There is no death signal here.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func awaitExit(int) {}

func snapshot() ([]entry, error) { return ps("-ax") }

func startOf(pid int) string {
	table, err := ps("-p", strconv.Itoa(pid))
	if err != nil || len(table) != 1 {
		return ""
	}
	return table[0].start
}

func stopped(pid int, _ bool) bool {
	s := state(pid)
	return s == "" || strings.ContainsAny(s[:1], "TZ")
}
func anyStopped(pid int) bool { return strings.HasPrefix(state(pid), "T") }

// stopThreads: threads have no numbers here.
func stopThreads(pid int) error { return send(pid, sigStop) }

// marked: the environment of other processes isn't read here.
func marked(int, string) bool { return false }

func treeListens(identity, int) (listens, known bool) { return false, false }

// Owner doesn't know on this platform.
func Owner(int) string { return "" }

func state(pid int) string {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func ps(which ...string) ([]entry, error) {
	out, err := exec.Command("ps", append(which, "-o", "pid=,ppid=,pgid=,stat=,lstart=")...).Output()
	if err != nil {
		return nil, fmt.Errorf("run ps: %w", err)
	}
	var table []entry
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		f := strings.Fields(s.Text())
		if len(f) < 5 {
			continue
		}
		pid, err1 := strconv.Atoi(f[0])
		parent, err2 := strconv.Atoi(f[1])
		group, err3 := strconv.Atoi(f[2])
		if err1 != nil || err2 != nil || err3 != nil {
			continue
		}
		id := identity{pid, strings.Join(f[4:], "-")}
		table = append(table, entry{identity: id, parent: parent, group: group, dead: strings.HasPrefix(f[3], "Z")})
	}
	return table, nil
}

// Neither environments nor folders of other processes are read here.
func variable(int, string) string { return "" }
func folderOf(int) string         { return "" }
func commandOf(int) string        { return "" }

func machine() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}
