package nemesis_test

import (
	"testing"
	"time"

	"github.com/locktest/locktest/nemesis"
)

// A throttled server answers, but stands still most of the time: of many requests some wait for a round.
func TestThrottleOfARealServer(t *testing.T) {
	b := newBench(t, nil)
	c := b.direct(0)
	check(t, c.Ping(b.ctx).Err())
	i := b.inject(nemesis.NewThrottle(target("n1"), 0.1))
	slow := 0
	b.eventually("requests wait for the server", func() bool {
		began := time.Now()
		check(t, c.Ping(b.ctx).Err())
		if time.Since(began) > 20*time.Millisecond {
			slow++
		}
		return slow >= 5
	})
	check(t, i.Heal(b.ctx))
	check(t, i.Heal(b.ctx))
	b.wantSteady(0)
	if nemesis.NewThrottle(target("n1"), 1).Check(b.env) == nil {
		t.Error("a throttle that leaves everything is not refused")
	}
}

// wantSteady wants a hundred answers of the node, none of which may fail.
func (b *bench) wantSteady(node int) {
	b.t.Helper()
	c := b.direct(node)
	for range 100 {
		check(b.t, c.Ping(b.ctx).Err())
	}
}

func TestResetOfARealServer(t *testing.T) {
	b := newBench(t, nil)
	c := b.client("c1", "n1")
	other := b.client("c2", "n2")
	check(t, c.Ping(b.ctx).Err())
	check(t, other.Ping(b.ctx).Err())
	id, err := other.ClientID(b.ctx).Result()
	check(t, err)
	i := b.inject(nemesis.NewReset(target("c1")))
	if err := c.Ping(b.ctx).Err(); err == nil {
		t.Error("a request was answered over a connection that was reset")
	}
	check(t, i.Heal(b.ctx))
	b.eventually("a new connection is made", func() bool { return c.Ping(b.ctx).Err() == nil })
	again, err := other.ClientID(b.ctx).Result()
	check(t, err)
	if again != id {
		t.Error("another client's connection was reset too")
	}
}
