package lockstest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/locktest/locktest/locks"
)

// answers gives one answer after the other.
type answers struct {
	locks.Client
	errs []error
	n    int
}

func (a *answers) Acquire(context.Context, locks.Request) (locks.Lock, error) {
	a.n++
	return nil, a.errs[a.n-1]
}

// Only a connection that came too late is asked for again.
func TestAsk(t *testing.T) {
	late := fmt.Errorf("%w: %w", locks.ErrUnavailable, fmt.Errorf("connect: %w", context.DeadlineExceeded))
	refused := fmt.Errorf("%w: connection refused", locks.ErrUnavailable)
	lost := fmt.Errorf("no answer: %w", context.DeadlineExceeded)
	for _, c := range []struct {
		errs  []error
		calls int
	}{{[]error{late, late, nil}, 3}, {[]error{late, locks.ErrHeld}, 2}, {[]error{refused, nil}, 1}, {[]error{lost, nil}, 1}, {[]error{nil}, 1}} {
		a := &answers{errs: c.errs}
		_, err := (&bench{t: t}).ask(t.Context(), a, locks.Request{})
		if a.n != c.calls || !errors.Is(err, c.errs[c.calls-1]) {
			t.Errorf("%v: %d calls and %v, want %d", c.errs, a.n, err, c.calls)
		}
	}
}
