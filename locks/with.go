package locks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// ErrLost is the cause of the context of a section whose lock was lost, and the error of With then.
var ErrLost = errors.New("the lock was lost")

// Hooks are told what With does. nil ones are left out.
type Hooks struct {
	// Acquired is told how long an acquire took, whatever came of it.
	Acquired func(name string, took time.Duration, err error)
	// Released is told how long the lock was held, and what the release answered.
	Released func(name string, held time.Duration, err error)
}

// LogHooks write a line for each acquire and each release, with its duration.
func LogHooks(log *slog.Logger) Hooks {
	return Hooks{
		Acquired: func(name string, took time.Duration, err error) {
			log.Info("acquire", "lock", name, "took", took, "result", word(err))
		},
		Released: func(name string, held time.Duration, err error) {
			log.Info("release", "lock", name, "held", held, "result", word(err))
		},
	}
}

func word(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, ErrHeld):
		return "busy"
	case errors.Is(err, ErrNotHeld):
		return "not held"
	case errors.Is(err, ErrUnavailable):
		return "unavailable"
	}
	return "unknown: " + err.Error()
}

// releaseLimit is how long a release may take, whatever became of the caller's context.
const releaseLimit = 5 * time.Second

// With acquires r within r.Wait, runs f, and releases the lock on every path, a panic of f included, which becomes an error.
// f's context ends when the lock is lost or its lease ends, with ErrLost as its cause. That the lock is held by another is
// ErrHeld. An acquire whose outcome is unknown is cleaned up. The errors of f, of the loss and of the release are joined; a
// release that finds the lock gone is one only if f didn't know.
//
// It makes nothing exclusive that the lock doesn't: f can be paused between its last look at the context and what it does.
func With(ctx context.Context, c Client, r Request, h Hooks, f func(context.Context, Lock) error) error {
	began := time.Now()
	l, err := c.Acquire(ctx, r)
	if h.Acquired != nil {
		h.Acquired(r.Name, time.Since(began), err)
	}
	if err != nil {
		if l != nil {
			err = errors.Join(err, release(ctx, l))
		}
		return fmt.Errorf("acquire %s: %w", r.Name, err)
	}
	granted := time.Now()
	err = section(ctx, l, f)
	released := release(ctx, l)
	if h.Released != nil {
		h.Released(r.Name, time.Since(granted), released)
	}
	if released != nil && !(errors.Is(err, ErrLost) && errors.Is(released, ErrNotHeld)) {
		err = errors.Join(err, fmt.Errorf("release %s: %w", r.Name, released))
	}
	return err
}

func release(ctx context.Context, l Lock) error {
	ctx, cancel := context.WithTimeout(Cleanup(ctx), releaseLimit)
	defer cancel()
	return l.Release(ctx)
}

// section runs f with a context that ends with the hold.
func section(ctx context.Context, l Lock, f func(context.Context, Lock) error) (err error) {
	ctx, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	stop := make(chan struct{})
	defer close(stop)
	go watchEnd(l, stop, func() { lose(ErrLost) })
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in the section: %v", p)
		}
		if errors.Is(context.Cause(ctx), ErrLost) {
			err = errors.Join(err, ErrLost)
		}
	}()
	return f(ctx, l)
}

// watchEnd calls lose when l tells of its loss, or its lease has ended by the clock.
func watchEnd(l Lock, stop <-chan struct{}, lose func()) {
	for awaitEnd(l, stop) {
		if until := l.ValidUntil(); isClosed(l.Lost()) || !until.IsZero() && !time.Now().Before(until) {
			lose()
			return
		} // else it was extended
	}
}

// awaitEnd returns true when the hold may have ended, and false when nobody wants to know any more.
func awaitEnd(l Lock, stop <-chan struct{}) bool {
	var end <-chan time.Time
	if until := l.ValidUntil(); !until.IsZero() {
		t := time.NewTimer(time.Until(until))
		defer t.Stop()
		end = t.C
	}
	select {
	case <-stop:
		return false
	case <-l.Lost():
	case <-end:
	}
	return true
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
