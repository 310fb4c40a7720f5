package proc

import (
	"fmt"
	"os"
)

// Ident names a process for good, unlike its number, which another one may get: PID-START. Empty where there is no such process.
func Ident(pid int) string {
	start := startOf(pid)
	if start == "" {
		return ""
	}
	return identity{pid, start}.ident()
}

// OwnIdent is this process's.
func OwnIdent() string { return Ident(os.Getpid()) }

// Lives says whether the process of that Ident still runs. What is no Ident never does.
func Lives(ident string) (bool, error) {
	table, err := snapshot()
	if err != nil {
		return false, fmt.Errorf("look for process %s: %w", ident, err)
	}
	for _, e := range table {
		if !e.dead && e.ident() == ident {
			return true, nil
		}
	}
	return false, nil
}

func (i identity) ident() string { return fmt.Sprintf("%d-%s", i.pid, i.start) }
