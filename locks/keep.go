package locks

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Renewing is a Lock whose lease something extends in the background.
type Renewing interface {
	Lock
	// Renewed tells the new ValidUntil after each extension. It is closed when the renewal has ended; who reads too slowly
	// gets the last alone.
	Renewed() <-chan time.Time
	// PauseRenewal stops the extensions while on is true, and nothing else: what the lock knows of its lease stays.
	PauseRenewal(on bool)
}

// Keep extends l by ttl again and again, about each every, until it is released or lost. l must be an Extender, and is not
// to be used by itself any more.
//
// The loss is told when an extension is refused, and by the clock when the lease ends without one: before another can be
// granted, as far as the lease that l reports is right.
func Keep(l Lock, ttl, every time.Duration) Renewing {
	ctx, stop := context.WithCancel(context.Background())
	k := &kept{Lock: l, extender: l.(Extender), ttl: ttl, every: every, stop: stop,
		lost: make(chan struct{}), renewed: make(chan time.Time, 1), done: make(chan struct{})}
	go k.run(ctx)
	return k
}

type kept struct {
	Lock
	extender   Extender
	ttl, every time.Duration
	stop       context.CancelFunc
	lost       chan struct{}
	renewed    chan time.Time
	done       chan struct{} // closed when run has ended

	mu     sync.Mutex
	paused bool
}

func (k *kept) Lost() <-chan struct{}     { return k.lost }
func (k *kept) Renewed() <-chan time.Time { return k.renewed }

func (k *kept) PauseRenewal(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.paused = on
}

func (k *kept) isPaused() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.paused
}

// Release ends the renewal, and only then releases: an extension on its way could bring the lock back.
func (k *kept) Release(ctx context.Context) error {
	k.stop()
	select {
	case <-k.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	return k.Lock.Release(ctx)
}

// Extend by hand counts like one in the background.
func (k *kept) Extend(ctx context.Context, ttl time.Duration) error {
	return k.extender.Extend(ctx, ttl)
}

func (k *kept) run(ctx context.Context) {
	defer close(k.done)
	defer close(k.renewed)
	next := time.NewTimer(k.every)
	defer next.Stop()
	for {
		end := time.NewTimer(time.Until(k.ValidUntil()))
		select {
		case <-ctx.Done():
			end.Stop()
			return
		case <-end.C:
			if !time.Now().Before(k.ValidUntil()) {
				close(k.lost)
				return
			}
		case <-next.C:
			if k.extend(ctx) {
				close(k.lost)
				return
			}
			next.Reset(k.every)
		}
		end.Stop()
	}
}

// extend says whether the lock is certainly lost. Any other error is tried again, until the lease ends.
func (k *kept) extend(ctx context.Context) (lost bool) {
	if k.isPaused() {
		return false
	}
	ctx, cancel := context.WithDeadline(ctx, k.ValidUntil())
	defer cancel()
	err := k.extender.Extend(ctx, k.ttl)
	switch {
	case errors.Is(err, ErrNotHeld):
		return true
	case err != nil:
		return false
	}
	select {
	case <-k.renewed: // nobody read the one before
	default:
	}
	k.renewed <- k.ValidUntil()
	return false
}
