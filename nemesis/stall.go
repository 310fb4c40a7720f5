package nemesis

import (
	"context"
	"errors"
	"fmt"

	"github.com/locktest/locktest/cluster"
)

// Stall keeps the disks of nodes from taking anything, as one that hangs does: a server waits in the kernel for what it
// writes, for as long as it takes, and answers nobody who depends on it. A server that writes nothing notices nothing.
type Stall struct{ of Target }

// NewStall returns a stall of its target's disks.
func NewStall(of Target) *Stall { return &Stall{of} }

// Kind is "stall".
func (s *Stall) Kind() string { return "stall" }

// Text says it in words.
func (s *Stall) Text() string { return "freeze the disk of " + s.of.Text() }

// Target is whose disk it is.
func (s *Stall) Target() Target { return s.of }

// Check wants nodes with disks of their own.
func (s *Stall) Check(env Env) error {
	if err := s.of.check(env); err != nil {
		return fmt.Errorf("stall: %w", err)
	}
	for _, name := range s.of.static(env) {
		n := env.node(name)
		if n == nil {
			return fmt.Errorf("stall: %s is no node", name)
		}
		d, ok := n.(cluster.Staller)
		if !ok {
			return fmt.Errorf("stall: node %s%s has no disk that can be frozen", name, kindOf(n))
		}
		if err := d.CanStall(); err != nil {
			return fmt.Errorf("stall: %w", err)
		}
	}
	return nil
}

// Inject freezes the disks; healing thaws them.
func (s *Stall) Inject(ctx context.Context, env Env) (Injection, error) {
	names, err := s.of.pickLiving(ctx, env)
	if err != nil {
		return Injection{}, fmt.Errorf("stall %s: %w", s.of.Text(), err)
	}
	books := env.books()
	id := books.id()
	heal := func(ctx context.Context) error {
		return each(names, func(name string) error { return books.unstall(ctx, id, name) })
	}
	text := "freeze the disk of " + and(names)
	env.begin(names, text)
	if err := each(names, func(name string) error { return books.stall(ctx, id, name) }); err != nil {
		return Injection{}, undo(ctx, fmt.Errorf("stall %s: %w", and(names), err), heal)
	}
	return Injection{Targets: names, Text: text, Heal: heal}, nil
}

// stall freezes a node's disk, unless another fault has done so already.
func (l *ledger) stall(ctx context.Context, id int, name string) error {
	t := l.target(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.kills) > 0 {
		return fmt.Errorf("%w: %s is dead", ErrNoTarget, name)
	}
	if len(t.stalls) == 0 {
		ctx, cancel := whole(ctx)
		defer cancel()
		d := l.env.node(name).(cluster.Staller)
		if err := d.Stall(ctx); err != nil {
			return errors.Join(err, d.Unstall(ctx))
		}
	}
	t.stalls[id] = true
	return nil
}

// unstall ends id's stall. One that a kill has ended is nothing to do.
func (l *ledger) unstall(ctx context.Context, id int, name string) error {
	t := l.target(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.stalls[id] {
		return nil
	}
	if len(t.stalls) == 1 {
		if err := l.env.node(name).(cluster.Staller).Unstall(ctx); err != nil {
			return err
		}
	}
	delete(t.stalls, id)
	return nil
}

// flowing runs f while the disk of t, which is name and whose lock is held, takes what it is given: threads that wait for it
// can't be reached.
func (l *ledger) flowing(ctx context.Context, t *target, name string, f func() error) error {
	if len(t.stalls) == 0 {
		return f()
	}
	ctx, cancel := whole(ctx)
	defer cancel()
	d := l.env.node(name).(cluster.Staller)
	if err := d.Unstall(ctx); err != nil {
		return err
	}
	return errors.Join(f(), d.Stall(ctx))
}
