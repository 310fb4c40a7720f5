package lockstest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/memory"
)

// slow is a lock on a machine where each acquire takes its time.
type slow struct {
	locks.Provider
	ttls []time.Duration // asked for
}

type slowClient struct {
	locks.Client
	of *slow
}

func (s *slow) Open(ctx context.Context, t locks.Target) (locks.Client, error) {
	c, err := s.Provider.Open(ctx, t)
	return slowClient{c, s}, err
}

func (c slowClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	c.of.ttls = append(c.of.ttls, r.TTL)
	time.Sleep(40 * time.Millisecond)
	return c.Client.Acquire(ctx, r)
}

// A lease that ends before the other client has asked is no mistake of the lock's, and decides nothing: longer ones do.
func TestALeaseThatEndsTooEarlyIsNoMistake(t *testing.T) {
	s := &slow{Provider: memory.NewLease()}
	decide(t, Kit{Provider: s, TTL: 10 * time.Millisecond}, refusesHeld)
	if n := len(s.ttls); n < 4 || s.ttls[n-1] < 40*time.Millisecond {
		t.Errorf("asked for leases of %v: the last was decisive, and too short for that", s.ttls)
	}
}

// fixed is a grant until some time.
type fixed struct {
	locks.Lock
	until time.Time
}

func (f fixed) ValidUntil() time.Time         { return f.until }
func (f fixed) Lost() <-chan struct{}         { return nil }
func (f fixed) Release(context.Context) error { return locks.ErrNotHeld }

func TestLasts(t *testing.T) {
	b := &bench{t: t}
	ended, lasting, endless := fixed{until: time.Now()}, fixed{until: time.Now().Add(time.Hour)}, fixed{}
	if !try(t, b, func(*testing.T, *bench) { b.lasts(lasting, endless) }) {
		t.Error("leases that last leave it undecided")
	}
	if try(t, b, func(*testing.T, *bench) { b.lasts(lasting, ended) }) {
		t.Error("a lease that has ended decides something")
	}
	if try(t, b, func(*testing.T, *bench) { b.release(ended) }) {
		t.Error("that a lease had ended at its release decides something")
	}
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, locks.ErrHeld) {
			t.Errorf("another panic became %v", err)
		}
	}()
	try(t, b, func(*testing.T, *bench) { panic(locks.ErrHeld) })
}

// Two who hold at once are seen while both leases last, and not when one of them has ended.
func TestHolders(t *testing.T) {
	lasting, ended := func() locks.Lock { return &fixed{until: time.Now().Add(time.Hour)} }, func() locks.Lock { return &fixed{until: time.Now()} }
	for name, c := range map[string]struct {
		first, second locks.Lock
		found         bool
	}{"both last": {lasting(), lasting(), true}, "the first has ended": {ended(), lasting(), false}, "the second has ended": {lasting(), ended(), false}} {
		var h holders
		h.enter(c.first)
		if other := h.enter(c.second); (other != nil) != c.found {
			t.Errorf("%s: found %v", name, other)
		}
		h.leave(c.first)
		if other := h.enter(c.first); (other == c.second) != c.found || other == c.first {
			t.Errorf("%s, the other way round: found %v", name, other)
		}
	}
}
