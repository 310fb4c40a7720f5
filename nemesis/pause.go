package nemesis

import (
	"context"
	"fmt"

	"github.com/locktest/locktest/cluster"
)

// Pause stops whole processes, clients' or servers', as a long collection of garbage or a suspended machine does: their
// connections stay, and what is sent to them waits.
type Pause struct{ of Target }

// NewPause returns a pause of its target.
func NewPause(of Target) *Pause { return &Pause{of} }

// Kind is "pause".
func (p *Pause) Kind() string { return "pause" }

// Text says it in words.
func (p *Pause) Text() string { return "pause " + p.of.Text() }

// Target is who is paused.
func (p *Pause) Target() Target { return p.of }

// Renewers are Clients whose leases something in them renews in the background, which can be stopped alone.
type Renewers interface {
	// Renews says whether the lock does that at all.
	Renews() bool
	// PauseRenewal stops it, or lets it go on; for a client that is dead the latter is no error.
	PauseRenewal(ctx context.Context, client string, on bool) error
}

// Sleepers are Clients that may be unable to stand still; CanPause says why, also before the start.
type Sleepers interface{ CanPause() error }

// Check wants every node that may be meant to be a cluster.Pauser, and clients that can stand still.
func (p *Pause) Check(env Env) error {
	if err := p.of.check(env); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	for _, name := range p.of.static(env) {
		if c, ok := env.Clients.(Sleepers); ok && env.node(name) == nil && c.CanPause() != nil {
			return fmt.Errorf("pause: %w", c.CanPause())
		}
	}
	return needPower[cluster.Pauser](env, p.of, "pause", "paused")
}

// Inject stops the targets, and returns once each stands still.
func (p *Pause) Inject(ctx context.Context, env Env) (Injection, error) {
	names, err := p.of.pickLiving(ctx, env)
	if err != nil {
		return Injection{}, fmt.Errorf("pause %s: %w", p.of.Text(), err)
	}
	books := env.books()
	id := books.id()
	heal := func(ctx context.Context) error {
		return each(names, func(name string) error { return books.resume(ctx, id, name) })
	}
	text := fmt.Sprintf("pause %s (%s)", and(names), env.how(names, "SIGSTOP"))
	env.begin(names, text)
	if err := each(names, func(name string) error { return books.pause(ctx, id, name) }); err != nil {
		return Injection{}, undo(ctx, fmt.Errorf("pause %s: %w", and(names), err), heal)
	}
	return Injection{Targets: names, Text: text, Heal: heal}, nil
}
