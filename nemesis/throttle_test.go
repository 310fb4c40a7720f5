package nemesis_test

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/nemesis"
)

// A throttled server is stopped and goes on many times, and answers; then it isn't stopped any more. How long its answers take
// isn't asked: that a machine is busy shows in them too.
func TestThrottleOfARealServer(t *testing.T) {
	b := newBench(t, nil)
	c := b.direct(0)
	check(t, c.Ping(b.ctx).Err())
	i := b.inject(nemesis.NewThrottle(target("n1"), 0.5))
	for range 10 {
		b.eventually("the server is stopped", func() bool { return b.stopped(0) })
		check(t, c.Ping(b.ctx).Err())
		b.eventually("the server goes on", func() bool { return !b.stopped(0) })
	}
	check(t, i.Heal(b.ctx))
	check(t, i.Heal(b.ctx))
	for end := time.Now().Add(quiet); time.Now().Before(end); {
		if b.stopped(0) {
			t.Fatal("the server is stopped after the throttle has healed")
		}
	}
	b.wantSteady(0)
	if nemesis.NewThrottle(target("n1"), 1).Check(b.env) == nil {
		t.Error("a throttle that leaves everything is not refused")
	}
}

// stopped says whether a node's process is stopped by a signal.
func (b *bench) stopped(node int) bool {
	b.t.Helper()
	out, err := exec.CommandContext(b.ctx, "ps", "-o", "stat=", "-p", strconv.Itoa(b.env.Nodes[node].(cluster.Pidded).Pid())).Output()
	check(b.t, err)
	return strings.HasPrefix(string(out), "T")
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
