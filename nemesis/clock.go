package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/vclock"
)

// Clocks that a ClockSpec can name.
const (
	Wall      = "wall"      // what date shows
	Monotonic = "monotonic" // what time-outs are counted by; it can only be made to gain
)

// ClockSpec says whose clock goes wrong, and how: Jump and Rate may come together.
type ClockSpec struct {
	Of     Target
	Clock  string        // Wall, Monotonic
	Jump   time.Duration // at once
	Rate   float64       // 1.5 gains half a second a second; 0 counts as 1
	Freeze bool          // it stands still
}

// Clock makes single processes read a wrong time, by their copy of the vDSO. Timers of the kernel stay right, and so do
// plain system calls. Healing sets a wall clock right; a monotonic one keeps what it gained, so the process is started anew.
type Clock struct{ spec ClockSpec }

// NewClock returns a clock fault as spec says.
func NewClock(spec ClockSpec) *Clock {
	if spec.Clock == "" {
		spec.Clock = Wall
	}
	if spec.Rate == 0 {
		spec.Rate = 1
	}
	if spec.Freeze {
		spec.Rate = 0
	}
	return &Clock{spec}
}

// Kind is "clock".
func (c *Clock) Kind() string { return "clock" }

// Text says it in words.
func (c *Clock) Text() string { return c.what(c.spec.Of.Text()) }

// Target is whose clock it is.
func (c *Clock) Target() Target { return c.spec.Of }

func (c *Clock) what(whose string) string {
	clock := "the " + c.spec.Clock + " clock of " + whose
	rate := fmt.Sprintf(" at %g times its rate", c.spec.Rate)
	switch {
	case c.spec.Rate == 0 && c.spec.Jump == 0:
		return "freeze " + clock
	case c.spec.Jump == 0:
		return "run " + clock + rate
	case c.spec.Rate != 1:
		return "set " + clock + c.way() + " and run it" + rate
	}
	return "set " + clock + c.way()
}

func (c *Clock) way() string {
	if c.spec.Jump < 0 {
		return fmt.Sprintf(" back by %v", -c.spec.Jump)
	}
	return fmt.Sprintf(" ahead by %v", c.spec.Jump)
}

// Check wants processes of their own, a platform that can do it, and a monotonic clock that isn't to run backwards.
func (c *Clock) Check(env Env) error {
	if err := c.spec.Of.check(env); err != nil {
		return fmt.Errorf("clock: %w", err)
	}
	if err := vclock.Supported(); err != nil {
		return fmt.Errorf("clock: %w", err)
	}
	if c.spec.Jump == 0 && c.spec.Rate == 1 {
		return errors.New("clock: neither jump nor rate nor freeze is given")
	}
	if c.spec.Clock == Monotonic && (c.spec.Jump < 0 || c.spec.Rate < 1) {
		return errors.New("clock: the monotonic clock can't be set back, slowed or frozen: programs would sleep for the difference")
	}
	return c.checkTargets(env)
}

func (c *Clock) checkTargets(env Env) error {
	for _, name := range c.spec.Of.static(env) {
		n := env.node(name)
		if n == nil && !env.Clients.Separate() {
			return fmt.Errorf("clock: client %s has no process of its own", name)
		}
		if _, ok := n.(cluster.Pidded); n != nil && !ok {
			return fmt.Errorf("clock: node %s%s is no process of its own", name, kindOf(n))
		}
		if c, ok := n.(cluster.PidChecker); ok && c.HasPid() != nil {
			return fmt.Errorf("clock: node %s%s: %w", name, kindOf(n), c.HasPid())
		}
	}
	return nil
}

// Inject shifts the clocks of the targets' whole process trees.
func (c *Clock) Inject(ctx context.Context, env Env) (Injection, error) {
	names, err := c.spec.Of.pickLiving(ctx, env)
	if err != nil {
		return Injection{}, fmt.Errorf("%s: %w", c.Text(), err)
	}
	text := c.what(and(names))
	env.begin(names, text)
	books := env.books()
	w := &wrong{spec: c.spec, books: books, names: names, began: time.Now(), stop: make(chan struct{}), id: books.id()}
	if err := w.set(ctx, time.Now()); err != nil {
		return Injection{}, undo(ctx, fmt.Errorf("%s: %w", text, err), w.heal)
	}
	w.going.Go(w.run)
	return Injection{Targets: names, Text: text, Heal: w.heal}, nil
}
