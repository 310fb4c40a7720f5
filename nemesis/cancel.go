package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Canceller is Clients whose own calls can be cancelled, as by a request's time-out or a user who goes away.
type Canceller interface {
	// CancelCalls ends the acquires that the client has open. None is no error.
	CancelCalls(ctx context.Context, client string) error
}

// Cancel cancels a client's own acquire. What becomes of it is for the lock's library to decide: the classic mistake is a
// waiter that gave up and is granted the lock all the same.
type Cancel struct{ of Target }

// NewCancel returns a cancel of its target's calls.
func NewCancel(of Target) *Cancel { return &Cancel{of} }

// Kind is "cancel".
func (c *Cancel) Kind() string { return "cancel" }

// Text says it in words.
func (c *Cancel) Text() string { return "cancel the call of " + c.of.Text() }

// Target is whose call is cancelled.
func (c *Cancel) Target() Target { return c.of }

// Default is how long it lasts: it is over at once.
func (c *Cancel) Default(Env) time.Duration { return time.Millisecond }

// Check wants clients whose calls can be cancelled.
func (c *Cancel) Check(env Env) error {
	if err := c.of.check(env); err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	for _, name := range c.of.static(env) {
		if env.node(name) != nil {
			return fmt.Errorf("cancel: %s is a node: it has no calls of its own", name)
		}
	}
	if _, ok := env.Clients.(Canceller); !ok {
		return errors.New("cancel: the calls of these clients can't be cancelled")
	}
	return nil
}

// Inject cancels the calls that are open now. There is nothing to heal.
func (c *Cancel) Inject(ctx context.Context, env Env) (Injection, error) {
	names, err := c.of.pickLiving(ctx, env)
	if err != nil {
		return Injection{}, fmt.Errorf("%s: %w", c.Text(), err)
	}
	text := "cancel the call of " + and(names)
	env.begin(names, text)
	calls := env.Clients.(Canceller)
	if err := each(names, func(name string) error { return calls.CancelCalls(ctx, name) }); err != nil {
		return Injection{}, fmt.Errorf("%s: %w", text, err)
	}
	return Injection{Targets: names, Text: text, Heal: func(context.Context) error { return nil }}, nil
}
