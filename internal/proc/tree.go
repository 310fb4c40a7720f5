package proc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"
)

// identity is a process, apart from a later one with the same pid.
type identity struct {
	pid   int
	start string // as the system tells it; empty: not known
}

// entry is a line of the system's table of processes.
type entry struct {
	identity
	parent, group int
	dead          bool // a zombie, or going: nothing of it runs any more
}

// pollStep is how often the table of processes is read while waiting for it to change.
const pollStep = 2 * time.Millisecond

// tree returns the living processes of root: its descendants, what else is in its process group with theirs, and itself.
func tree(table []entry, root identity) []entry {
	in := map[int]bool{}
	for _, e := range table {
		if e.pid == root.pid && e.start == root.start {
			in[e.pid] = true
		}
	}
	if len(in) == 0 {
		return nil
	}
	return closure(table, in, map[int]bool{root.pid: true})
}

// closure returns the living processes that are in, in one of the groups, or descend from such.
func closure(table []entry, in, groups map[int]bool) []entry {
	for grown := true; grown; {
		grown = false
		for _, e := range table {
			if !in[e.pid] && (in[e.parent] || groups[e.group]) {
				in[e.pid], grown = true, true
			}
		}
	}
	var out []entry
	for _, e := range table {
		if in[e.pid] && !e.dead {
			out = append(out, e)
		}
	}
	return out
}

func signalTree(root identity, sig syscall.Signal) error {
	table, err := snapshot()
	if err != nil {
		return err
	}
	return sendAll(tree(table, root), sig)
}

// stopTree repeats until two readings in a row show the same processes with all threads stopped: one that was being
// forked when the first signal went out shows up in the next reading. A thread that waits in the kernel for a disk stops
// when it comes back from there, and counts as stopped once the signal was sent.
func stopTree(ctx context.Context, root identity) error {
	var last []identity
	sent := map[identity]bool{}
	return poll(ctx, func() (bool, error) {
		table, err := snapshot()
		if err != nil {
			return false, err
		}
		all := tree(table, root)
		if len(all) == 0 {
			return false, errors.New("it has ended")
		}
		var running []entry
		for _, e := range all {
			if !stopped(e.pid, sent[e.identity]) {
				running = append(running, e)
			}
		}
		same := slices.Equal(last, identities(all))
		last = identities(all)
		if len(running) == 0 {
			return same, nil
		}
		return false, stopAll(running, sent)
	})
}

// stopAll sends the signal to a process the first time, and to its threads after that: the one that the system chose to take
// it may be waiting for a disk, and the others never hear of it.
func stopAll(running []entry, sent map[identity]bool) error {
	var errs []error
	for _, e := range running {
		if sent[e.identity] {
			errs = append(errs, stopThreads(e.pid))
			continue
		}
		sent[e.identity] = true
		errs = append(errs, sendAll([]entry{e}, sigStop))
	}
	return errors.Join(errs...)
}

// continueTree sends the signal to all at first: one that waits in the kernel with a stop before it doesn't look stopped.
func continueTree(ctx context.Context, root identity) error {
	first := true
	return poll(ctx, func() (bool, error) {
		table, err := snapshot()
		if err != nil {
			return false, err
		}
		var still []entry
		for _, e := range tree(table, root) {
			if first || anyStopped(e.pid) {
				still = append(still, e)
			}
		}
		first = false
		return len(still) == 0, sendAll(still, sigCont)
	})
}

// killTree stops the tree first: a process whose parent dies before it is seen couldn't be found any more.
func killTree(root identity) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	stopErr := stopTree(ctx, root) // one that can't be stopped in time is killed all the same
	table, err := snapshot()
	if err != nil {
		return errors.Join(stopErr, err)
	}
	return sendAll(tree(table, root), sigKill)
}

// sendAll sends sig to each; one that has ended meanwhile is no error.
func sendAll(to []entry, sig syscall.Signal) error {
	var errs []error
	for _, e := range to {
		if err := send(e.pid, sig); err != nil {
			errs = append(errs, fmt.Errorf("signal %v to process %d: %w", sig, e.pid, err))
		}
	}
	return errors.Join(errs...)
}

func identities(entries []entry) []identity {
	out := make([]identity, len(entries))
	for i, e := range entries {
		out[i] = e.identity
	}
	return out
}

// poll calls f until it is done, fails, or ctx ends.
func poll(ctx context.Context, f func() (done bool, err error)) error {
	t := time.NewTicker(pollStep)
	defer t.Stop()
	for {
		done, err := f()
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	}
}

// Tree returns the process and its living descendants, as they are now; none once it has ended.
func Tree(pid int) ([]int, error) {
	table, err := snapshot()
	if err != nil {
		return nil, fmt.Errorf("list the processes under %d: %w", pid, err)
	}
	var pids []int
	for _, e := range tree(table, identity{pid: pid, start: startOf(pid)}) {
		pids = append(pids, e.pid)
	}
	return pids, nil
}
