package locks

import (
	"context"
	"errors"
)

// These errors are definite: what was asked for did not and will not take effect. Every other error is indefinite, so a
// provider that does nothing special is safe.
var (
	// ErrHeld: somebody else holds the lock.
	ErrHeld = errors.New("lock is held")
	// ErrNotHeld: this owner does not hold the lock (any more).
	ErrNotHeld = errors.New("lock is not held")
	// ErrUnavailable: nothing was sent.
	ErrUnavailable = errors.New("service is unavailable, nothing was sent")
)

// ErrClosed is why a Client that was closed sends nothing more; it comes within ErrUnavailable.
var ErrClosed = errors.New("the client is closed")

// Definite says whether err is certain: the request had no effect and never will.
func Definite(err error) bool {
	return errors.Is(err, ErrHeld) || errors.Is(err, ErrNotHeld) || errors.Is(err, ErrUnavailable)
}

// Cleanup returns a context for undoing something after ctx may have ended: it carries ctx's values, not its end.
func Cleanup(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }
