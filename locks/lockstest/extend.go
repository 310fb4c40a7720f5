package lockstest

import (
	"errors"
	"testing"
	"time"

	"github.com/locktest/locktest/locks"
)

func extendLasts(t *testing.T, b *bench) {
	l := b.acquire(b.user("c1"), 0)
	e, ok := l.(locks.Extender)
	if !ok || !b.leases() {
		return
	}
	first := l.ValidUntil()
	if err := e.Extend(b.context(), 5*b.kit.TTL); err != nil {
		b.lasts(l)
		t.Fatalf("extend: %v", err)
	}
	if !l.ValidUntil().After(first) {
		t.Errorf("valid until %v after an extend, %v before", l.ValidUntil(), first)
	}
	c2 := b.user("c2")
	for time.Now().Before(first.Add(b.kit.TTL / 2)) {
		b.refused(c2, "of an extended lock", l)
	}
}

func extendEnded(t *testing.T, b *bench) {
	l := b.acquire(b.user("c1"), 0)
	e, ok := l.(locks.Extender)
	if !ok || !b.leases() {
		return
	}
	next := b.acquire(b.user("c2"), limit)
	if err := e.Extend(b.context(), b.kit.TTL); !errors.Is(err, locks.ErrNotHeld) {
		t.Errorf("extend of an ended lease: %v, want ErrNotHeld", err)
	}
	b.release(next)
	if err := e.Extend(b.context(), b.kit.TTL); !errors.Is(err, locks.ErrNotHeld) {
		t.Errorf("extend of a lease that somebody else had meanwhile: %v, want ErrNotHeld", err)
	}
	b.release(b.acquire(b.user("c3"), 0))
}
