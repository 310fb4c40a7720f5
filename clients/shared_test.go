package clients

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/memory"
)

func shared(t *testing.T, provider locks.Provider, name string, tell func(Event)) *Shared {
	t.Helper()
	c, err := NewShared(t.Context(), name, func(ctx context.Context) (locks.Client, error) {
		return provider.Open(ctx, locks.Target{Client: name})
	}, tell)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestSharedPauseActsBetweenSteps(t *testing.T) {
	c := shared(t, memory.NewLease(), "c1", func(Event) {})
	if err := c.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Pause(t.Context())
	got := make(chan error, 1)
	go func() {
		_, err := c.Do(context.Background(), Request{Op: OpAcquire, Grant: 1, Lock: "orders", TTL: time.Minute})
		got <- err
	}()
	c.Resume(t.Context())
	select {
	case err := <-got:
		t.Fatalf("a client that is paused twice went on after one resume: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	c.Resume(t.Context())
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// What a killed client holds lasts until its lease ends, of which it tells nobody. The time is virtual: no lease ends early.
func TestSharedKillAbandonsItsHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider := memory.NewLease()
		told := make(chan Event, 8)
		c1, c2 := shared(t, provider, "c1", func(e Event) { told <- e }), shared(t, provider, "c2", func(Event) {})
		do(t, c1, Request{Op: OpAcquire, Grant: 1, Lock: "orders", TTL: 300 * time.Millisecond}, OK)
		c1.Pause(t.Context())
		got := make(chan error, 1)
		go func() {
			_, err := c1.Do(context.Background(), Request{Op: OpWork, Grant: 1})
			got <- err
		}()
		synctest.Wait() // the request is open
		if err := c1.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-got; !errors.Is(err, ErrDead) {
			t.Errorf("an open request of a killed client: %v", err)
		}
		do(t, c2, Request{Op: OpAcquire, Grant: 2, Lock: "orders", TTL: time.Minute}, Busy)
		do(t, c2, Request{Op: OpAcquire, Grant: 3, Lock: "orders", TTL: time.Minute, Wait: 10 * time.Second}, OK)
		if err := c1.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		do(t, c1, Request{Op: OpRelease, Grant: 1, Lock: "orders"}, Unknown)
		synctest.Wait()
		if len(told) > 0 {
			t.Errorf("a dead client told %v", <-told)
		}
	})
}

// counting counts the clients that it opens and that are closed.
type counting struct {
	locks.Provider
	opened, closed atomic.Int32
}

func (p *counting) Open(ctx context.Context, t locks.Target) (locks.Client, error) {
	c, err := p.Provider.Open(ctx, t)
	p.opened.Add(1)
	return countedClient{c, p}, err
}

type countedClient struct {
	locks.Client
	of *counting
}

func (c countedClient) Close() error {
	c.of.closed.Add(1)
	return c.Client.Close()
}

// A killed client's connections end, as a process's do: else its session would be kept alive for the rest of the run.
func TestSharedKillClosesItsClient(t *testing.T) {
	p := &counting{Provider: memory.NewLease()}
	c := shared(t, p, "c1", func(Event) {})
	for i := range 3 {
		for range 2 {
			if err := c.Kill(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		within(t, "the killed client is closed", func() bool { return p.closed.Load() == int32(i+1) })
		if err := c.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if o, n := p.opened.Load(), p.closed.Load(); o != 4 || n != 4 {
		t.Errorf("opened %d clients, closed %d", o, n)
	}
}

// Closing waits for what a kill has begun to close, and closes nothing twice.
func TestSharedCloseAfterAKill(t *testing.T) {
	p := &counting{Provider: memory.NewLease()}
	c := shared(t, p, "c1", func(Event) {})
	if err := c.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Close(); err != nil || p.closed.Load() != 1 {
			t.Errorf("Close() = %v, closed %d times", err, p.closed.Load())
		}
	}
}

func TestSharedTellsALoss(t *testing.T) {
	told := make(chan Event, 8)
	c := shared(t, memory.NewLease(), "c1", func(e Event) { told <- e })
	do(t, c, Request{Op: OpAcquire, Grant: 1, Lock: "orders", TTL: 50 * time.Millisecond}, OK)
	if e := <-told; e.Kind != LostEvent || e.Grant != 1 || e.Lock != "orders" {
		t.Errorf("told %+v", e)
	}
	do(t, c, Request{Op: OpWork, Grant: 1}, Lost)
}

func TestSharedCancelEndsAnAcquire(t *testing.T) {
	provider := memory.NewLease()
	c1, c2 := shared(t, provider, "c1", func(Event) {}), shared(t, provider, "c2", func(Event) {})
	do(t, c1, Request{Op: OpAcquire, Grant: 1, Lock: "orders", TTL: time.Minute}, OK)
	got := make(chan Reply, 1)
	go func() {
		r, _ := c2.Do(context.Background(), Request{Op: OpAcquire, Grant: 2, Lock: "orders", TTL: time.Minute, Wait: time.Hour})
		got <- r
	}()
	most, told := 0, 0
	within(t, "the acquire is cancelled", func() bool {
		n, err := c2.CancelCalls(t.Context(), func() { told++ })
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, n)
		return len(got) == 1
	})
	if r := <-got; r.Result != Busy || most != 1 || told == 0 {
		t.Errorf("the cancelled acquire got %+v, and %d calls were cancelled at once, told %d times", r, most, told)
	}
	if n, err := c2.CancelCalls(t.Context(), func() { t.Error("nothing is open, and it was told") }); n != 0 || err != nil {
		t.Errorf("with no call open: cancelled %d, %v", n, err)
	}
}
