package nemesis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/proc"
	"github.com/locktest/locktest/internal/vclock"
)

// wrong is a clock fault in effect.
type wrong struct {
	spec  ClockSpec
	books *ledger
	names []string
	began time.Time
	id    int
	stop  chan struct{}
	going sync.WaitGroup

	mu     sync.Mutex
	healed bool
}

// step is how often a clock at another rate is moved; a tree is looked through for new processes every so many steps.
const (
	step     = 10 * time.Millisecond
	lookStep = 25
)

// run moves clocks that don't keep the right rate, and reaches processes that were started meanwhile.
func (w *wrong) run() {
	tick := time.NewTicker(step)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-w.stop:
			return
		case now := <-tick.C:
			if w.spec.Rate == 1 && n%lookStep != 0 {
				continue
			}
			ctx, cancel := context.WithTimeout(context.Background(), healLimit)
			w.set(ctx, now) // a process that has just ended can't be reached, and need not be
			cancel()
		}
	}
}

// set brings every target's clocks to where they ought to be at now.
func (w *wrong) set(ctx context.Context, now time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.healed {
		return nil
	}
	d := w.spec.Jump + time.Duration((w.spec.Rate-1)*float64(now.Sub(w.began)))
	offset := vclock.Offset{Wall: d}
	if w.spec.Clock == Monotonic {
		offset = vclock.Offset{Monotonic: d}
	}
	return each(w.names, func(name string) error { return w.books.shift(ctx, w.id, name, offset) })
}

// heal may be called twice. What a monotonic clock gained stays with the process, so that is started anew.
func (w *wrong) heal(ctx context.Context) error {
	w.mu.Lock()
	first := !w.healed
	w.healed = true
	w.mu.Unlock()
	if first {
		close(w.stop)
	}
	w.going.Wait()
	if w.spec.Clock == Wall {
		return each(w.names, func(name string) error { return w.books.unshift(ctx, w.id, name) })
	}
	return each(w.names, func(name string) error { return w.books.anew(ctx, w.id, name) })
}

// shift adds id's offset to the clocks of a target; a later one of the same id replaces it.
func (l *ledger) shift(ctx context.Context, id int, name string, o vclock.Offset) error {
	t := l.target(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.offsets[id] = o
	if len(t.stalls) == 0 {
		return l.applyClocks(ctx, t, name)
	}
	// Only a process that was reached before can be reached while it waits for its disk.
	brief, cancel := context.WithTimeout(ctx, briefly)
	defer cancel()
	if l.applyClocks(brief, t, name) == nil {
		return nil
	}
	return l.flowing(ctx, t, name, func() error { return l.applyClocks(ctx, t, name) })
}

// briefly is how long is waited for threads to stand still that may be waiting for a disk.
const briefly = 200 * time.Millisecond

// unshift takes id's offset away again.
func (l *ledger) unshift(ctx context.Context, id int, name string) error {
	t := l.target(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.offsets, id)
	return l.applyClocks(ctx, t, name)
}

// anew starts a target anew without id's offset, once: what its monotonic clock gained ends with its process.
func (l *ledger) anew(ctx context.Context, id int, name string) error {
	t := l.target(name)
	t.mu.Lock()
	_, shifted := t.offsets[id]
	t.mu.Unlock()
	if shifted {
		if err := l.kill(ctx, id, name); err != nil {
			return err
		}
		t.mu.Lock()
		delete(t.offsets, id)
		t.mu.Unlock()
	}
	return l.revive(ctx, id, name, cluster.WithData) // again, where a first try killed only
}

func (l *ledger) applyClocks(ctx context.Context, t *target, name string) error {
	pids, err := l.env.pids(name)
	if err != nil {
		return err
	}
	var errs []error
	for _, pid := range pids {
		errs = append(errs, setClock(ctx, pid, t.clocks()))
	}
	return errors.Join(errs...)
}

// clocks is by how much all faults together have a target's clocks wrong.
func (t *target) clocks() vclock.Offset {
	var sum vclock.Offset
	for _, o := range t.offsets {
		sum.Wall += o.Wall
		sum.Monotonic += o.Monotonic
	}
	return sum
}

// setClock attaches anew each time: a handle would outlive its process, and a number may come back as another one's.
func setClock(ctx context.Context, pid int, o vclock.Offset) error {
	c, err := vclock.Attach(ctx, pid)
	if err != nil {
		return err
	}
	defer c.Close()
	o.Monotonic = max(o.Monotonic, c.Now().Monotonic) // it never runs backwards
	return c.Set(o)
}

// pids are the processes of a node or a client; none while it is dead.
func (env Env) pids(name string) ([]int, error) {
	pid := 0
	if n := env.node(name); n != nil {
		p, ok := n.(cluster.Pidded)
		if !ok {
			return nil, fmt.Errorf("node %s is no process", name)
		}
		pid = p.Pid()
		if c, ok := n.(cluster.PidChecker); ok && pid == 0 && c.HasPid() != nil {
			return nil, fmt.Errorf("node %s: %w", name, c.HasPid())
		}
	} else if c, ok := env.Clients.(interface{ Pid(client string) int }); ok {
		pid = c.Pid(name)
	}
	if pid == 0 {
		return nil, nil
	}
	return proc.Tree(pid)
}
