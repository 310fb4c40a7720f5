package nemesis

import (
	"context"
	"fmt"
	"time"

	"github.com/locktest/locktest/cluster"
)

// Reset ends the connections of its target by a reset; while it lasts new ones are refused.
type Reset struct{ of Target }

// NewReset returns a reset of its target's connections.
func NewReset(of Target) *Reset { return &Reset{of} }

// resetGap is how long new connections are refused where nobody says: long enough to be seen, no longer than a reconnect.
const resetGap = 20 * time.Millisecond

// Kind is "reset".
func (r *Reset) Kind() string { return "reset" }

// Text says it in words.
func (r *Reset) Text() string { return "reset the connections of " + r.of.Text() }

// Target is whose connections end.
func (r *Reset) Target() Target { return r.of }

// Default is how long a reset lasts that doesn't say.
func (r *Reset) Default(Env) time.Duration { return resetGap }

// Check wants nodes, and names that exist.
func (r *Reset) Check(env Env) error {
	if err := checkLinks(env, BothWays); err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	if err := r.of.check(env); err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	return nil
}

// Inject resets the connections.
func (r *Reset) Inject(ctx context.Context, env Env) (Injection, error) {
	names, err := r.of.pick(ctx, env)
	if err != nil {
		return Injection{}, fmt.Errorf("%s: %w", r.Text(), err)
	}
	return layOn(ctx, env, names, "reset the connections of "+and(names), cluster.Condition{Mode: cluster.Refuse}, touching(env, names, BothWays))
}
