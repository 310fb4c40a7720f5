package nemesis_test

import (
	"strconv"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/nemesis"
)

func (b *bench) ttl(c *goredis.Client, key string) time.Duration {
	b.t.Helper()
	d, err := c.PTTL(b.ctx, key).Result()
	check(b.t, err)
	return d
}

// ahead is how far the server's clock is before ours, by its TIME.
func (b *bench) ahead(c *goredis.Client) time.Duration {
	b.t.Helper()
	before := time.Now()
	r, err := c.Time(b.ctx).Result()
	check(b.t, err)
	return r.Sub(before)
}

// near allows for a machine that is busy.
func near(got, want time.Duration) bool {
	d := got - want
	return d > -10*time.Second && d < 10*time.Second
}

// A wall clock that jumps ahead by 20 s shortens the life of a key by as much, and healing gives it back.
func TestClockOfARealServer(t *testing.T) {
	b := newBench(t, nil)
	c := b.direct(0)
	for _, test := range []struct {
		jump, left time.Duration
	}{{40 * time.Second, 60 * time.Second}, {-40 * time.Second, 140 * time.Second}} {
		key := "lock" + strconv.Itoa(int(test.jump))
		check(t, c.Set(b.ctx, key, "x", 100*time.Second).Err())
		i := b.inject(nemesis.NewClock(nemesis.ClockSpec{Of: target("n1"), Jump: test.jump}))
		if got := b.ttl(c, key); !near(got, test.left) {
			t.Errorf("jump %v: the key lives for %v, want about %v", test.jump, got, test.left)
		}
		if got := b.ahead(c); !near(got, test.jump) {
			t.Errorf("jump %v: the server is %v ahead", test.jump, got)
		}
		if got := b.ahead(b.direct(1)); !near(got, 0) {
			t.Errorf("jump %v: the other server is %v ahead", test.jump, got)
		}
		check(t, i.Heal(b.ctx))
		check(t, i.Heal(b.ctx))
		if got := b.ttl(c, key); !near(got, 100*time.Second) {
			t.Errorf("jump %v, healed: the key lives for %v", test.jump, got)
		}
	}
}

// Two clock faults on one server add up, whichever heals first.
func TestClocksCompose(t *testing.T) {
	b := newBench(t, nil)
	c := b.direct(0)
	entry := func(jump, at, lasts time.Duration) nemesis.Entry {
		return nemesis.Entry{Fault: nemesis.NewClock(nemesis.ClockSpec{Of: target("n1"), Jump: jump}), Trigger: nemesis.Trigger{At: &nemesis.Range{Min: at, Max: at}}, For: nemesis.Range{Min: lasts, Max: lasts}}
	}
	plans, err := nemesis.Lay([]nemesis.Entry{entry(time.Hour, 0, 2*time.Second), entry(-30*time.Minute, time.Second, 2*time.Second)}, 1, nemesis.Window{Until: limit})
	check(t, err)
	done := make(chan error, 1)
	go func() { done <- nemesis.Run(b.ctx, b.env, plans, clockDiary{time.Now()}) }()
	for _, want := range []time.Duration{time.Hour, 30 * time.Minute, -30 * time.Minute, 0} {
		b.eventually("the server is ahead by "+want.String(), func() bool { return near(b.ahead(c), want) })
	}
	check(t, <-done)
}

// clockDiary only tells the time of the run.
type clockDiary struct{ began time.Time }

func (clockDiary) Record(op history.Op) history.Op   { return op }
func (d clockDiary) Since(t time.Time) time.Duration { return t.Sub(d.began) }

// A clock at one and a half times its rate gains half of what passes. Both are taken in one reading, so a busy machine
// changes neither.
func TestClockRate(t *testing.T) {
	b := newBench(t, nil)
	c := b.direct(0)
	i := b.inject(nemesis.NewClock(nemesis.ClockSpec{Of: target("n1"), Rate: 1.5}))
	began, first := time.Now(), b.ahead(c)
	b.eventually("5 s have passed", func() bool { return time.Since(began) > 5*time.Second })
	passed, gained := time.Since(began), b.ahead(c)-first
	if share := float64(gained) / float64(passed); share < 0.475 || share > 0.525 {
		t.Errorf("it gained %v in %v: %.3f of it, want 0.5", gained, passed, share)
	}
	check(t, i.Heal(b.ctx))
	frozen := b.inject(nemesis.NewClock(nemesis.ClockSpec{Of: target("n1"), Freeze: true}))
	began, first = time.Now(), b.ahead(c)
	b.eventually("1 s has passed", func() bool { return time.Since(began) > time.Second })
	if lost := first - b.ahead(c); lost < 900*time.Millisecond {
		t.Errorf("a frozen clock lost %v in %v", lost, time.Since(began))
	}
	check(t, frozen.Heal(b.ctx))
}

// The monotonic clock doesn't move a key's end; healing starts the server anew.
func TestMonotonicClockOfARealServer(t *testing.T) {
	b := newBench(t, map[string]string{"persistence": "aof-always"})
	c := b.direct(0)
	check(t, c.Set(b.ctx, "lock", "x", 100*time.Second).Err())
	pid := b.env.Nodes[0].(interface{ Pid() int }).Pid()
	i := b.inject(nemesis.NewClock(nemesis.ClockSpec{Of: target("n1"), Clock: nemesis.Monotonic, Jump: time.Hour}))
	if got := b.ttl(c, "lock"); !near(got, 100*time.Second) {
		t.Errorf("the key lives for %v", got)
	}
	check(t, i.Heal(b.ctx))
	if again := b.env.Nodes[0].(interface{ Pid() int }).Pid(); again == pid || again == 0 {
		t.Errorf("the server is process %d, it was %d", again, pid)
	}
	if got := b.ttl(b.direct(0), "lock"); !near(got, 100*time.Second) {
		t.Errorf("healed, the key lives for %v", got)
	}
	for name, spec := range map[string]nemesis.ClockSpec{
		"backwards":                         {Of: target("n1"), Clock: nemesis.Monotonic, Jump: -time.Second},
		"slow":                              {Of: target("n1"), Clock: nemesis.Monotonic, Rate: 0.5},
		"frozen":                            {Of: target("n1"), Clock: nemesis.Monotonic, Freeze: true},
		"nothing":                           {Of: target("n1")},
		"a client that shares this process": {Of: target("c1"), Jump: time.Second},
	} {
		if nemesis.NewClock(spec).Check(b.env) == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}
