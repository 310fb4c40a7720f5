package nemesis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Canceller is Clients whose own calls can be cancelled, as by a request's time-out or a user who goes away.
type Canceller interface {
	// CancelCalls ends the acquires that the client has open, and says how many. Where there are any, before is called first; none
	// is no error.
	CancelCalls(ctx context.Context, client string, before func()) (int, error)
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

// cancelTries is how often a live target is chosen anew, a moment later: who is seen to wait may be about to send its call, or to
// have been answered.
const cancelTries = 20

// Inject cancels the calls that are open now. There is nothing to heal.
func (c *Cancel) Inject(ctx context.Context, env Env) (Injection, error) {
	for try := 1; ; try++ {
		names, err := c.of.pickLiving(ctx, env)
		if err != nil {
			return Injection{}, fmt.Errorf("%s: %w", c.Text(), err)
		}
		text := "cancel the call of " + and(names)
		begin := sync.OnceFunc(func() { env.begin(names, text) })
		n, err := cancelCalls(ctx, env, names, begin)
		if err != nil {
			return Injection{}, fmt.Errorf("%s: %w", text, err)
		}
		if n == 0 && c.of.Live() && try < cancelTries && sleepUntil(ctx, time.Now().Add(time.Millisecond)) {
			continue
		}
		begin()
		return Injection{Targets: names, Text: text, Heal: func(context.Context) error { return nil },
			Result: func() (string, error) { return text, cancelled(n) }}, nil
	}
}

// cancelCalls calls begin where there is a call to cancel, and says how many there were. The dead have none.
func cancelCalls(ctx context.Context, env Env, names []string, begin func()) (int, error) {
	calls, books := env.Clients.(Canceller), env.books()
	var count counter
	err := each(names, func(name string) error {
		n, err := calls.CancelCalls(ctx, name, begin)
		count.add(n)
		if err != nil && len(books.living([]string{name})) == 0 {
			return nil
		}
		return err
	})
	return count.value(), err
}

// cancelled says that a cancel of nothing did not apply.
func cancelled(calls int) error {
	if calls == 0 {
		return fmt.Errorf("%w: no call was open", ErrNoTarget)
	}
	return nil
}
