package lockstest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/locktest/locktest/locks"
)

// pauses are how long a client is let wait before what ends its wait: with none it has hardly begun, after the last it stands in
// whatever it waits in.
func pauses() []time.Duration {
	return []time.Duration{0, 5 * time.Millisecond, 50 * time.Millisecond}
}

// waiter is a client that waits for the lock.
type waiter struct {
	b   *bench
	got chan answer
}

type answer struct {
	lock locks.Lock
	err  error
}

func (b *bench) wait(ctx context.Context, c locks.Client) waiter {
	w := waiter{b, make(chan answer, 1)}
	go func() {
		l, err := b.ask(ctx, c, b.request(limit))
		w.got <- answer{l, err}
	}()
	return w
}

// answer is what the waiter gets now that its wait has been ended; it could wait for twice as long otherwise.
func (w waiter) answer(after string) answer {
	w.b.t.Helper()
	select {
	case a := <-w.got:
		return a
	case <-time.After(limit / 2):
		w.b.t.Fatalf("%s a waiter is not answered within %v", after, limit/2)
		return answer{}
	}
}

// waiterGets has leases that last longer than anything here, so that no waiter gets the lock by the end of one.
func waiterGets(t *testing.T, b *bench) {
	if b.leases() {
		b.kit.TTL = max(b.kit.TTL, 2*limit)
	}
	c1, c2 := b.user("c1"), b.user("c2")
	for _, pause := range pauses() {
		l := b.acquire(c1, 0)
		w := b.wait(b.context(), c2)
		time.Sleep(pause)
		b.release(l)
		a := w.answer("after the release")
		if a.err != nil {
			t.Fatalf("the waiter got %v", a.err)
		}
		b.release(a.lock)
	}
}

func waitEnds(_ *testing.T, b *bench) {
	l := b.acquire(b.user("c1"), 0)
	wait := min(b.kit.TTL/4, 100*time.Millisecond)
	b.refusedRequest(b.user("c2"), b.request(wait), fmt.Sprintf("after a wait of %v", wait), l)
}

// cancelledWaiter cleans up where a request was under way when it was cancelled and the lock says that it doesn't know.
func cancelledWaiter(t *testing.T, b *bench) {
	c1, c2 := b.user("c1"), b.user("c2")
	for _, pause := range pauses() {
		l := b.acquire(c1, 0)
		ctx, cancel := context.WithCancel(b.context())
		w := b.wait(ctx, c2)
		time.Sleep(pause)
		cancel()
		a := w.answer("after it was cancelled")
		if a.err == nil && !b.claims.NonExclusive {
			b.lasts(l)
			t.Errorf("an acquire that was cancelled after %v was granted while the lock was held", pause)
		}
		if a.err != nil && a.lock != nil && !locks.Definite(a.err) {
			cleanUp(b.context(), a.lock)
		}
		b.release(l)
		b.release(b.acquire(b.user("c3"), b.kit.TTL+5*time.Second)) // nobody else took it meanwhile, or for longer than a lease
	}
}
