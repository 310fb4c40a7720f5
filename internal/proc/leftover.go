package proc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// harnessName is the environment variable by which every process knows whose it is: the Ident of its harness.
const harnessName = "LOCKTEST_HARNESS"

// ownedPrefix begins the names of folders and files that carry the Ident of their harness.
const ownedPrefix = TempPrefix + "of-"

// TempName is the beginning of a name for os.MkdirTemp and os.CreateTemp that says whose it is, so that what a killed harness
// left is known for that.
func TempName() string { return ownedPrefix + OwnIdent() + "-" }

// ownerOf is the Ident in a name made of TempName.
func ownerOf(name string) (ident string, ok bool) {
	rest, ok := strings.CutPrefix(name, ownedPrefix)
	i := strings.LastIndexByte(rest, '-')
	if !ok || i <= 0 {
		return "", false
	}
	pid, start, ok := strings.Cut(rest[:i], "-")
	return rest[:i], ok && start != "" && strings.Trim(pid, "0123456789") == "" && pid != ""
}

// Machine names this machine since it was started, with its space of process numbers: an Ident means something there only.
func Machine() string { return machine() }

// Leftover is what a harness that is dead left behind.
type Leftover struct {
	Harness string // its Ident
	Pid     int    // of a process; 0: it is a folder or a file
	Path    string // of that
	What    string // the process's command
}

func (l Leftover) String() string {
	if l.Pid != 0 {
		return fmt.Sprintf("process %d (%s)", l.Pid, l.What)
	}
	return l.Path
}

// Leftovers returns what was left by harnesses that don't live: processes that carry their mark or work in their folders, then
// the folders and files in the system's folder for temporary ones. This process and its parents are never among them.
func Leftovers() ([]Leftover, error) {
	table, err := snapshot()
	if err != nil {
		return nil, fmt.Errorf("look for what was left: %w", err)
	}
	alive := living{}
	var out []Leftover
	spared := ancestors(table, os.Getpid())
	for _, e := range table {
		harness := harnessOf(e.pid)
		if harness == "" || e.dead || slices.Contains(spared, e.pid) {
			continue
		}
		if yes, err := alive.is(harness); err != nil {
			return nil, err
		} else if !yes {
			out = append(out, Leftover{Harness: harness, Pid: e.pid, What: commandOf(e.pid)})
		}
	}
	dirs, err := os.ReadDir(os.TempDir())
	if err != nil {
		return out, fmt.Errorf("look for what was left: %w", err)
	}
	for _, d := range dirs {
		ident, ok := ownerOf(d.Name())
		if !ok {
			continue
		}
		if yes, err := alive.is(ident); err != nil {
			return nil, err
		} else if !yes {
			out = append(out, Leftover{Harness: ident, Path: filepath.Join(os.TempDir(), d.Name())})
		}
	}
	return out, nil
}

// living is what is known of harnesses. Each is asked for once something of it was seen, and so began before that.
type living map[string]bool

func (l living) is(ident string) (bool, error) {
	yes, known := l[ident]
	if known {
		return yes, nil
	}
	yes, err := Lives(ident)
	l[ident] = yes
	return yes, err
}

// harnessOf is whose a process is: by its mark, or by the folder that it works in where it wrote over its environment.
func harnessOf(pid int) string {
	if ident := variable(pid, harnessName); ident != "" {
		return ident
	}
	for dir := folderOf(pid); dir != "" && dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		if ident, ok := ownerOf(filepath.Base(dir)); ok && filepath.Dir(dir) == filepath.Clean(os.TempDir()) {
			return ident
		}
	}
	return ""
}

// ancestors are a process and all above it.
func ancestors(table []entry, pid int) []int {
	parents := map[int]int{}
	for _, e := range table {
		parents[e.pid] = e.parent
	}
	var out []int
	for ; pid > 0 && !slices.Contains(out, pid); pid = parents[pid] {
		out = append(out, pid)
	}
	return out
}

// EndLeftovers kills those of ls that are processes, and returns once none is left.
func EndLeftovers(ctx context.Context, ls []Leftover) error {
	return poll(ctx, func() (bool, error) {
		now, err := Leftovers()
		if err != nil {
			return false, err
		}
		left := 0
		for _, l := range now {
			if l.Pid != 0 && slices.ContainsFunc(ls, func(o Leftover) bool { return o.Harness == l.Harness }) { // what it has started meanwhile too
				left++
				send(l.Pid, sigKill) // who can't be killed is there at the next look
			}
		}
		return left == 0, nil
	})
}
