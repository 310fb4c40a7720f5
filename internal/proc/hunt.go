package proc

import (
	"context"
	"errors"
	"fmt"
)

// hunt finds processes whose parents may be gone already: by the mark in their environment, by their group, by having been
// seen in a tree before, and by descent from any of these. (A server that writes over its environment, as some do for
// the sake of a title, is found by the other ways.)
type hunt struct {
	mark  string
	roots map[int]string // pid → start, of what was started
	seen  map[int]string // descendants noticed while their parents lived
}

// prey returns what is alive.
func (h hunt) prey(table []entry) []entry {
	in, groups := map[int]bool{}, map[int]bool{}
	for _, e := range table {
		if h.started(e) || h.seen[e.pid] == e.start && e.start != "" {
			in[e.pid] = true
		}
		// A group outlives its leader, and its number isn't given away before it is empty.
		if _, ok := h.roots[e.group]; ok && !h.reused(table, e.group) {
			groups[e.group] = true
		}
		if h.mark != "" && marked(e.pid, h.mark) {
			in[e.pid] = true
		}
	}
	return closure(table, in, groups)
}

func (h hunt) started(e entry) bool {
	start, ok := h.roots[e.pid]
	return ok && start == e.start
}

// reused says whether pid is now another process than the one that was started under it.
func (h hunt) reused(table []entry, pid int) bool {
	for _, e := range table {
		if e.pid == pid {
			return e.start != h.roots[pid]
		}
	}
	return false
}

// sweep kills what h finds until nothing is left.
func sweep(ctx context.Context, h hunt) error {
	left := 0
	err := poll(ctx, func() (bool, error) {
		table, err := snapshot()
		if err != nil {
			return false, err
		}
		all := h.prey(table)
		left = len(all)
		// Stopped first, so that none of them can start another between this reading and its end.
		return left == 0, errors.Join(sendAll(all, sigStop), sendAll(all, sigKill))
	})
	if err != nil {
		return fmt.Errorf("end what is left of %d processes: %w", left, err)
	}
	return nil
}
