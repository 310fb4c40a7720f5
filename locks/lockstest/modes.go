package lockstest

import (
	"errors"
	"testing"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// get acquires by r at once, or fails the test.
func (b *bench) get(c locks.Client, r locks.Request) locks.Lock {
	b.t.Helper()
	l, err := b.ask(b.context(), c, r)
	if err != nil {
		b.t.Fatalf("acquire %s %d: %v", r.Mode, r.Permits, err)
	}
	return l
}

func readersShare(_ *testing.T, b *bench) {
	if !b.claims.Shared {
		return
	}
	read, write := b.request(0), b.request(0)
	read.Mode, write.Mode = history.Shared, history.Exclusive
	c1, c2, c3 := b.user("c1"), b.user("c2"), b.user("c3")
	first, second := b.get(c1, read), b.get(c2, read)
	b.refusedRequest(c3, write, "by a writer beside two readers", first, second)
	b.release(first)
	b.refusedRequest(c3, write, "by a writer beside one reader", second)
	if err := first.Release(b.context()); b.claims.ReleaseHeld && !errors.Is(err, locks.ErrNotHeld) {
		b.t.Errorf("the second release of a reader: %v, want ErrNotHeld", err)
	}
	b.refusedRequest(c3, write, "by a writer after a reader's second release", second)
	b.release(second)
	patient := write
	patient.Wait = limit // a service may take its time to see that readers are gone
	writer := b.get(c3, patient)
	b.refusedRequest(c1, read, "by a reader beside a writer", writer)
	b.refusedRequest(c2, write, "by a writer beside a writer", writer)
	b.release(writer)
}

// onePermit is a request for one permit.
func (b *bench) onePermit() locks.Request {
	r := b.request(0)
	r.Permits = 1
	return r
}

func permitsCount(_ *testing.T, b *bench) {
	if b.claims.Permits == 0 {
		return
	}
	var held []locks.Lock
	for range b.claims.Permits {
		held = append(held, b.get(b.user("c1"), b.onePermit()))
	}
	b.refusedRequest(b.user("c2"), b.onePermit(), "of one permit more than there are", held...)
	for _, l := range held {
		b.release(l)
	}
	all := b.acquire(b.user("c3"), limit)
	b.refusedRequest(b.user("c2"), b.onePermit(), "beside a holder of all permits", all)
	b.release(all)
}

func permitTwice(_ *testing.T, b *bench) {
	if b.claims.Permits < 2 {
		return
	}
	c := b.user("c1")
	first := b.get(c, b.onePermit())
	var held []locks.Lock
	for range b.claims.Permits - 1 {
		held = append(held, b.get(b.user("c2"), b.onePermit()))
	}
	b.release(first)
	if err := first.Release(b.context()); err == nil && b.claims.ReleaseHeld {
		b.t.Error("a second release was answered OK")
	}
	held = append(held, b.get(c, b.onePermit()))
	b.refusedRequest(b.user("c3"), b.onePermit(), "after a permit was released twice and taken once", held...)
}

func holderAgain(_ *testing.T, b *bench) {
	if b.claims.Reentry == 0 {
		return
	}
	c1, c2 := b.user("c1"), b.user("c2")
	held := []locks.Lock{b.acquire(c1, 0)}
	last := held[0] // which began the lease anew for all
	for range b.claims.Reentry - 1 {
		l := b.acquire(c1, 0)
		if l.Owner() != held[0].Owner() || l.Token() != held[0].Token() {
			b.lasts(last)
		}
		if l.Owner() != held[0].Owner() || l.Token() != held[0].Token() {
			b.t.Errorf("again: owner %s, token %d; at first %s, %d", l.Owner(), l.Token(), held[0].Owner(), held[0].Token())
		}
		held, last = append(held, l), l
	}
	b.refused(c1, "beyond the limit of re-entry", last)
	for _, l := range held {
		b.refused(c2, "of a lock that its holder has not released as often as it took it", last)
		b.release(l)
	}
	b.release(b.acquire(c2, limit))
}
