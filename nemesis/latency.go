package nemesis

import (
	"context"
	"fmt"
	"time"

	"github.com/locktest/locktest/cluster"
)

// LatencySpec says whose links become slow.
type LatencySpec struct {
	Of        Target // every link of these
	Direction string // BothWays, ToNodes, FromNodes
	Latency   time.Duration
	Jitter    time.Duration // Latency ± Jitter; order is kept
}

// Latency makes links slow.
type Latency struct{ spec LatencySpec }

// NewLatency returns a latency as spec says.
func NewLatency(spec LatencySpec) *Latency { return &Latency{spec} }

// Kind is "latency".
func (l *Latency) Kind() string { return "latency" }

// Text says it in words.
func (l *Latency) Text() string { return "delay the links of " + l.spec.Of.Text() + l.manner() }

// Target is whose links become slow.
func (l *Latency) Target() Target { return l.spec.Of }

// Check wants nodes, and names that exist.
func (l *Latency) Check(env Env) error {
	if err := checkLinks(env, l.spec.Direction); err != nil {
		return fmt.Errorf("latency: %w", err)
	}
	if err := l.spec.Of.check(env); err != nil {
		return fmt.Errorf("latency: %w", err)
	}
	if l.spec.Latency < 0 || l.spec.Jitter < 0 || l.spec.Latency+l.spec.Jitter == 0 {
		return fmt.Errorf("latency: it is %v ± %v, want more than 0", l.spec.Latency, l.spec.Jitter)
	}
	return nil
}

// Inject slows the links down.
func (l *Latency) Inject(ctx context.Context, env Env) (Injection, error) {
	names, err := l.spec.Of.pick(ctx, env)
	if err != nil {
		return Injection{}, fmt.Errorf("delay the links of %s: %w", l.spec.Of.Text(), err)
	}
	text := "delay the links of " + and(names) + l.manner()
	c := cluster.Condition{Latency: l.spec.Latency, Jitter: l.spec.Jitter}
	return layOn(ctx, env, names, text, c, touching(env, names, l.spec.Direction))
}

func (l *Latency) manner() string {
	text := fmt.Sprintf(" by %v", l.spec.Latency)
	if l.spec.Jitter > 0 {
		text += fmt.Sprintf(" ± %v", l.spec.Jitter)
	}
	switch l.spec.Direction {
	case ToNodes:
		text += " (requests only)"
	case FromNodes:
		text += " (replies only)"
	}
	return text
}
