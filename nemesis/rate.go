package nemesis

import (
	"context"
	"fmt"
	"strings"

	"github.com/locktest/locktest/cluster"
)

// RateSpec says whose links carry how much.
type RateSpec struct {
	Of        Target // every link of these
	Direction string // BothWays, ToNodes, FromNodes
	Bandwidth int64  // bytes a second, of each link and direction
}

// Rate makes links narrow: what is sent over one takes its time, and what comes after it waits for its turn.
type Rate struct{ spec RateSpec }

// NewRate returns a rate as spec says.
func NewRate(spec RateSpec) *Rate { return &Rate{spec} }

// Kind is "rate".
func (r *Rate) Kind() string { return "rate" }

// Text says it in words.
func (r *Rate) Text() string { return "narrow the links of " + r.spec.Of.Text() + r.manner() }

// Target is whose links become narrow.
func (r *Rate) Target() Target { return r.spec.Of }

// Check wants nodes, names that exist, and a bandwidth.
func (r *Rate) Check(env Env) error {
	if err := checkLinks(env, r.spec.Direction); err != nil {
		return fmt.Errorf("rate: %w", err)
	}
	if err := r.spec.Of.check(env); err != nil {
		return fmt.Errorf("rate: %w", err)
	}
	if r.spec.Bandwidth <= 0 {
		return fmt.Errorf("rate: the bandwidth is %d bytes a second, want more than 0", r.spec.Bandwidth)
	}
	return nil
}

// Inject narrows the links.
func (r *Rate) Inject(ctx context.Context, env Env) (Injection, error) {
	names, err := r.spec.Of.pick(ctx, env)
	if err != nil {
		return Injection{}, fmt.Errorf("narrow the links of %s: %w", r.spec.Of.Text(), err)
	}
	text := "narrow the links of " + and(names) + r.manner()
	return layOn(ctx, env, names, text, cluster.Condition{Rate: r.spec.Bandwidth}, touching(env, names, r.spec.Direction))
}

func (r *Rate) manner() string {
	text := " to " + perSecond(r.spec.Bandwidth)
	switch r.spec.Direction {
	case ToNodes:
		text += " (requests only)"
	case FromNodes:
		text += " (replies only)"
	}
	return text
}

// perSecond writes bytes a second in the largest unit that needs no more than three digits behind the point.
func perSecond(bytes int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"MB/s", 1e6}, {"kB/s", 1e3}} {
		if bytes >= unit.size && bytes%(unit.size/1000) == 0 {
			number := fmt.Sprintf("%.3f", float64(bytes)/float64(unit.size))
			return strings.TrimRight(strings.TrimRight(number, "0"), ".") + " " + unit.name
		}
	}
	return fmt.Sprintf("%d B/s", bytes)
}
