package nemesis

import (
	"context"
	"errors"
	"fmt"
)

// RenewalPause stops the background renewal of clients' leases alone, as a thread that is starved: the rest of the client
// goes on, and believes that it is renewed.
type RenewalPause struct{ of Target }

// NewRenewalPause returns a pause of its target's renewal.
func NewRenewalPause(of Target) *RenewalPause { return &RenewalPause{of} }

// Kind is "pause".
func (p *RenewalPause) Kind() string { return "pause" }

// Text says it in words.
func (p *RenewalPause) Text() string { return "pause the renewal of " + p.of.Text() }

// Target is whose renewal stops.
func (p *RenewalPause) Target() Target { return p.of }

// Check wants clients of a lock that renews by itself.
func (p *RenewalPause) Check(env Env) error {
	if err := p.of.check(env); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	for _, name := range p.of.static(env) {
		if env.node(name) != nil {
			return fmt.Errorf("pause: %s is a node: it renews nothing", name)
		}
	}
	if r, ok := env.Clients.(Renewers); !ok || !r.Renews() {
		return errors.New("pause: this lock renews nothing in the background: set lock.options.renew, where it has that")
	}
	return nil
}

// Inject returns once the targets' renewal stands still.
func (p *RenewalPause) Inject(ctx context.Context, env Env) (Injection, error) {
	names, err := p.of.pickLiving(ctx, env)
	if err != nil {
		return Injection{}, fmt.Errorf("%s: %w", p.Text(), err)
	}
	clients := env.Clients.(Renewers)
	set := func(ctx context.Context, on bool) error {
		return each(names, func(name string) error { return clients.PauseRenewal(ctx, name, on) })
	}
	heal := func(ctx context.Context) error { return set(ctx, false) }
	text := "pause the renewal of " + and(names)
	env.begin(names, text)
	if err := set(ctx, true); err != nil {
		return Injection{}, undo(ctx, fmt.Errorf("%s: %w", text, err), heal)
	}
	return Injection{Targets: names, Text: text, Heal: heal}, nil
}
