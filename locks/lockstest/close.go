package lockstest

import (
	"testing"

	"github.com/locktest/locktest/history"
)

func closeReleasesNothing(t *testing.T, b *bench) {
	if b.claims.Expiry == history.Session || b.claims.NonExclusive {
		return
	}
	c1 := b.user("c1")
	l := b.acquire(c1, 0)
	if err := c1.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if _, err := b.ask(b.context(), b.user("c2"), b.request(0)); err == nil {
		b.lasts(l)
		t.Error("the lock of a client that was closed is granted within its lease")
	}
}

// closedAsksNothing: an acquire that goes on when its client is closed, as a dead one's does, is not to connect anew.
func closedAsksNothing(t *testing.T, b *bench) {
	if len(b.kit.Addrs) == 0 {
		return
	}
	c1 := b.user("c1")
	b.release(b.acquire(c1, 0))
	c1.Close()
	dialed := c1.gate.dialed.Load()
	if l, err := c1.Acquire(b.context(), b.request(0)); err == nil {
		t.Errorf("a closed client was granted %s", l.Owner())
	}
	if n := c1.gate.dialed.Load() - dialed; n > 0 {
		t.Errorf("a closed client connected %d times", n)
	}
}
