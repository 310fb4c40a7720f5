package clustertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Memory returns the bytes of a process and all that descend from it: what they share counts once (Pss). It reads /proc, and
// so is for Linux.
func Memory(pid int) (uint64, error) {
	children := map[int][]int{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		id, err1 := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, err2 := strconv.Atoi(f[1])
		if err1 == nil && err2 == nil {
			children[parent] = append(children[parent], id)
		}
	}
	return memory(pid, children)
}

func memory(pid int, children map[int][]int) (uint64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	var sum uint64
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "Pss:" {
			kib, err := strconv.ParseUint(f[1], 10, 64)
			if err != nil {
				return 0, err
			}
			sum += kib << 10
		}
	}
	for _, child := range children[pid] {
		if n, err := memory(child, children); err == nil { // one that has ended meanwhile has none
			sum += n
		}
	}
	return sum, nil
}
