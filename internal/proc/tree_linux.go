package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// childAttr: a group of its own, and death when the thread that forked it ends.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit returns when pid has ended, and leaves it to be reaped.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

func snapshot() ([]entry, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var table []entry
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if e, ok := readStat(pid); ok {
			table = append(table, e)
		}
	}
	return table, nil
}

func startOf(pid int) string {
	e, _ := readStat(pid)
	return e.start
}

// readStat reads /proc/PID/stat (proc(5)): after the name in brackets, state is field 3, the parent 4, the group 5 and
// the start 22.
func readStat(pid int) (entry, bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return entry{}, false
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 20 {
		return entry{}, false
	}
	parent, err1 := strconv.Atoi(f[1])
	group, err2 := strconv.Atoi(f[2])
	if err1 != nil || err2 != nil {
		return entry{}, false
	}
	dead := f[0] == "Z" || f[0] == "X"
	return entry{identity: identity{pid, f[19]}, parent: parent, group: group, dead: dead}, true
}

// stopped says whether all threads are; with waiting, those in the kernel that no signal wakes up (D) count too.
func stopped(pid int, waiting bool) bool {
	for _, s := range threadStates(pid) {
		if !strings.ContainsRune("TtZX", s) && !(waiting && s == 'D') {
			return false
		}
	}
	return true
}

func anyStopped(pid int) bool {
	for _, s := range threadStates(pid) {
		if s == 'T' {
			return true
		}
	}
	return false
}

// stopThreads sends SIGSTOP to every thread that could take it now; the first that does stops all.
func stopThreads(pid int) error {
	var errs []error
	for tid, s := range threadStates(pid) {
		if strings.ContainsRune("TtZXD", s) {
			continue
		}
		if err := unix.Tgkill(pid, tid, sigStop); err != nil && !errors.Is(err, unix.ESRCH) {
			errs = append(errs, fmt.Errorf("stop thread %d of process %d: %w", tid, pid, err))
		}
	}
	return errors.Join(errs...)
}

// threadStates are the states of a process's threads by their numbers.
func threadStates(pid int) map[int]rune {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return nil // it has ended
	}
	states := map[int]rune{}
	for _, t := range tasks {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile(dir + "/" + t.Name() + "/stat")
		if i := bytes.LastIndexByte(b, ')'); err == nil && i >= 0 && i+2 < len(b) {
			states[tid] = rune(b[i+2])
		}
	}
	return states
}

// marked says whether pid was started with that NAME=VALUE in its environment.
func marked(pid int, mark string) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || !bytes.Contains(b, []byte(mark)) {
		return false
	}
	for _, v := range bytes.Split(b, []byte{0}) {
		if string(v) == mark {
			return true
		}
	}
	return false
}

// variable is the value of a variable in the environment that pid was started with; empty where it has none, or can't be asked.
func variable(pid int, name string) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return ""
	}
	for _, v := range bytes.Split(b, []byte{0}) {
		if value, ok := strings.CutPrefix(string(v), name+"="); ok {
			return value
		}
	}
	return ""
}

// folderOf is where pid works; empty where that can't be asked.
func folderOf(pid int) string {
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(dir, " (deleted)")
}

func commandOf(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.TrimSpace(string(bytes.ReplaceAll(b, []byte{0}, []byte{' '})))
}

func machine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, err2 := os.Readlink("/proc/self/ns/pid")
	if err != nil || err2 != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + space
}
