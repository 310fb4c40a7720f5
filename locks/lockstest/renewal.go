package lockstest

import (
	"testing"
	"time"

	"github.com/locktest/locktest/locks"
)

func renewalKeeps(t *testing.T, b *bench) {
	l, err := b.ask(b.context(), b.user("c1"), b.request(0))
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	k, ok := l.(locks.Renewing)
	if ok != b.claims.Background {
		t.Fatalf("it renews in the background: %v, claimed: %v", ok, b.claims.Background)
	}
	if !ok {
		return
	}
	c2 := b.user("c2")
	first := l.ValidUntil()
	for until := range k.Renewed() {
		b.refused(c2, "of a lock that is renewed", l)
		if until.Sub(first) > 2*b.kit.TTL {
			break
		}
	}
	b.release(l)
	again := b.acquire(c2, 0)
	select {
	case <-l.Lost():
		t.Error("a loss was told after the release")
	case <-time.After(b.kit.TTL / 2):
	}
	b.release(again)
}
