package proc

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Owner says which process listens on a TCP port, as "redis-server, pid 41213"; empty when nobody does or it isn't known.
func Owner(port int) string {
	sockets := listening(port)
	table, err := snapshot()
	if err != nil || len(sockets) == 0 {
		return ""
	}
	for _, e := range table {
		if holds(e.pid, sockets) {
			return fmt.Sprintf("%s, pid %d", nameOf(e.pid), e.pid)
		}
	}
	return ""
}

func treeListens(root identity, port int) (listens, known bool) {
	sockets := listening(port)
	table, err := snapshot()
	if err != nil {
		return false, false
	}
	for _, e := range tree(table, root) {
		if holds(e.pid, sockets) {
			return true, true
		}
	}
	return false, true
}

// listening returns the inodes of sockets that listen on port, as links of /proc/PID/fd name them.
func listening(port int) map[string]bool {
	sockets := map[string]bool{}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(file)
		if err != nil {
			continue
		}
		for s := bufio.NewScanner(f); s.Scan(); {
			if inode, ok := listenLine(s.Text(), port); ok {
				sockets["socket:["+inode+"]"] = true
			}
		}
		f.Close()
	}
	return sockets
}

// listenLine reads a line of /proc/net/tcp (proc_net_tcp): the local address is field 2, the state 4 (0A: listen), the
// inode 10.
func listenLine(line string, port int) (inode string, ok bool) {
	f := strings.Fields(line)
	if len(f) < 10 || f[3] != "0A" {
		return "", false
	}
	_, hex, _ := strings.Cut(f[1], ":")
	n, err := strconv.ParseUint(hex, 16, 16)
	return f[9], err == nil && int(n) == port
}

func holds(pid int, sockets map[string]bool) bool {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	fds, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, fd := range fds {
		if to, err := os.Readlink(dir + "/" + fd.Name()); err == nil && sockets[to] {
			return true
		}
	}
	return false
}

func nameOf(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return "a process"
	}
	return strings.TrimSpace(string(b))
}
