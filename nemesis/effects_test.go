package nemesis_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/cluster/proxy"
	"github.com/locktest/locktest/locks/redis"
	"github.com/locktest/locktest/nemesis"
)

// These tests show what each fault does to a real redis-server and its clients. limit is how long anything may take that
// is to happen; quiet, how long nothing may happen where nothing is to.
const (
	limit = 30 * time.Second
	quiet = 150 * time.Millisecond
)

// bench is a cluster of two nodes behind proxies, as clients c1 and c2 see it.
type bench struct {
	t   *testing.T
	ctx context.Context
	env nemesis.Env
	net *proxy.Network
}

func newBench(t *testing.T, options map[string]string) *bench {
	t.Helper()
	return newServersWith(t, process.Options{Service: redis.Service(), Nodes: 2, Server: options})
}

// users are names only: these faults harm nodes and links.
type users struct{}

func (users) Names() []string                       { return []string{"c1", "c2"} }
func (users) Separate() bool                        { return false }
func (users) Pause(context.Context, string) error   { return errors.ErrUnsupported }
func (users) Resume(context.Context, string) error  { return errors.ErrUnsupported }
func (users) Kill(context.Context, string) error    { return errors.ErrUnsupported }
func (users) Restart(context.Context, string) error { return errors.ErrUnsupported }

// client is one connection of a client to a node, without retries.
func (b *bench) client(name, node string) *goredis.Client {
	return b.dial(b.net.Addr(name, node))
}

// direct passes the proxies by, to see what the server holds.
func (b *bench) direct(i int) *goredis.Client { return b.dial(b.env.Nodes[i].Addr()) }

func (b *bench) dial(addr string) *goredis.Client {
	c := goredis.NewClient(&goredis.Options{Addr: addr, MaxRetries: -1, PoolSize: 1, ReadTimeout: limit, DialTimeout: limit, DialerRetries: 1,
		DisableIdentity: true, Protocol: 2})
	b.t.Cleanup(func() { c.Close() })
	return c
}

func (b *bench) inject(f nemesis.Fault) nemesis.Injection {
	b.t.Helper()
	check(b.t, f.Check(b.env))
	i, err := f.Inject(b.ctx, b.env)
	check(b.t, err)
	return i
}

// set sends a SET and returns where its answer will come.
func (b *bench) set(c *goredis.Client, key string) <-chan error {
	answer := make(chan error, 1)
	go func() { answer <- c.Set(b.ctx, key, "1", 0).Err() }()
	return answer
}

func (b *bench) wantSilence(answer <-chan error) {
	b.t.Helper()
	select {
	case err := <-answer:
		b.t.Fatalf("answered (%v) where no answer can come", err)
	case <-time.After(quiet):
	}
}

func (b *bench) wantKey(c *goredis.Client, key string, want int64) {
	b.t.Helper()
	got, err := c.Exists(b.ctx, key).Result()
	check(b.t, err)
	if got != want {
		b.t.Errorf("key %s exists %d times, want %d", key, got, want)
	}
}

func (b *bench) eventually(what string, f func() bool) {
	b.t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if f() {
			return
		}
	}
	b.t.Fatalf("not within %v: %s", limit, what)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func target(name string) nemesis.Target { return nemesis.Target{Of: name} }

func TestPauseOfARealServer(t *testing.T) {
	b := newBench(t, nil)
	c := b.client("c1", "n1")
	check(t, c.Ping(b.ctx).Err())
	i := b.inject(nemesis.NewPause(target("n1")))
	answer := b.set(c, "k")
	b.wantSilence(answer)
	check(t, b.client("c1", "n2").Ping(b.ctx).Err())
	check(t, i.Heal(b.ctx))
	check(t, <-answer)
	b.wantKey(c, "k", 1)
}

func TestKillOfARealServer(t *testing.T) {
	tests := []struct {
		name        string
		persistence string
		restart     cluster.Restart
		want        int64
	}{
		{"no persistence", "none", cluster.WithData, 0},
		{"append-only file", "aof-everysec", cluster.WithData, 1},
		{"append-only file, flushed always", "aof-always", cluster.WithData, 1},
		{"append-only file, emptied", "aof-everysec", cluster.Empty, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"persistence": tt.persistence})
			c := b.client("c1", "n1")
			check(t, c.Set(b.ctx, "k", "1", time.Hour).Err())
			i := b.inject(nemesis.NewKill(nemesis.KillSpec{Of: target("n1"), Restart: tt.restart}))
			if conn, err := net.DialTimeout("tcp", b.net.Addr("c1", "n1"), limit); err == nil {
				conn.Close()
				t.Error("a connection to a dead node was accepted")
			}
			if err := c.Ping(b.ctx).Err(); err == nil {
				t.Error("a dead node answered")
			}
			check(t, i.Heal(b.ctx))
			b.wantKey(b.client("c1", "n1"), "k", tt.want)
		})
	}
}

// That a server comes back without its data is said, unless it was asked for.
func TestKillSaysThatDataIsLost(t *testing.T) {
	for persistence, want := range map[string]bool{"none": true, "aof-always": false} {
		b := newBench(t, map[string]string{"persistence": persistence})
		i := b.inject(nemesis.NewKill(nemesis.KillSpec{Of: target("n1")}))
		if got := strings.Contains(i.Text, "without data"); got != want {
			t.Errorf("persistence %s: %q", persistence, i.Text)
		}
		check(t, i.Heal(b.ctx))
	}
}

func TestKillOfAPausedServer(t *testing.T) {
	b := newBench(t, nil)
	pause := b.inject(nemesis.NewPause(target("n1")))
	kill := b.inject(nemesis.NewKill(nemesis.KillSpec{Of: target("n1")}))
	check(t, pause.Heal(b.ctx)) // of a dead one: nothing to do
	check(t, kill.Heal(b.ctx))
	check(t, b.client("c1", "n1").Ping(b.ctx).Err())
}

func TestPartitionOfRealServers(t *testing.T) {
	cut := func(direction string) nemesis.Fault {
		return nemesis.NewPartition(nemesis.PartitionSpec{Groups: [][]string{{"c1"}, {"n1"}}, Direction: direction})
	}
	t.Run("replies only: carried out, and the reply late", func(t *testing.T) {
		b := newBench(t, nil)
		c := b.client("c1", "n1")
		check(t, c.Ping(b.ctx).Err())
		i := b.inject(cut(nemesis.FromNodes))
		answer := b.set(c, "k")
		b.eventually("the server has carried it out", func() bool { return b.direct(0).Exists(b.ctx, "k").Val() == 1 })
		b.wantSilence(answer)
		check(t, i.Heal(b.ctx))
		check(t, <-answer)
	})
	t.Run("requests only: nothing is carried out before healing, then it is", func(t *testing.T) {
		b := newBench(t, nil)
		c := b.client("c1", "n1")
		check(t, c.Ping(b.ctx).Err())
		i := b.inject(cut(nemesis.ToNodes))
		answer := b.set(c, "k")
		b.wantSilence(answer)
		b.wantKey(b.direct(0), "k", 0)
		check(t, i.Heal(b.ctx))
		check(t, <-answer)
		b.wantKey(b.direct(0), "k", 1)
	})
	t.Run("others go on", func(t *testing.T) {
		b := newBench(t, nil)
		i := b.inject(cut(nemesis.BothWays))
		check(t, b.client("c2", "n1").Ping(b.ctx).Err())
		check(t, b.client("c1", "n2").Ping(b.ctx).Err())
		check(t, i.Heal(b.ctx))
	})
}

// A reply can't come before the latency has passed; how much later it comes isn't asked.
func TestLatencyToRealServers(t *testing.T) {
	b := newBench(t, nil)
	c := b.client("c1", "n1")
	check(t, c.Ping(b.ctx).Err())
	i := b.inject(nemesis.NewLatency(nemesis.LatencySpec{Of: target("c1"), Latency: quiet}))
	began := time.Now()
	check(t, c.Ping(b.ctx).Err())
	if d := time.Since(began); d < 2*quiet {
		t.Errorf("a round trip took %v, with %v each way", d, quiet)
	}
	check(t, i.Heal(b.ctx))
	b.eventually("round trips are quick again", func() bool {
		began := time.Now()
		return c.Ping(b.ctx).Err() == nil && time.Since(began) < quiet
	})
}

// A value of 3000 bytes can't come over a line of 10 kB/s in less than 0.3 s, with the replies of others or without.
func TestRateToRealServers(t *testing.T) {
	const bytes, perSecond = 3000, 10_000
	b := newBench(t, nil)
	check(t, b.direct(0).Set(b.ctx, "big", strings.Repeat("x", bytes), 0).Err())
	c := b.client("c1", "n1")
	check(t, c.Ping(b.ctx).Err())
	i := b.inject(nemesis.NewRate(nemesis.RateSpec{Of: target("c1"), Bandwidth: perSecond}))
	began := time.Now()
	got, err := c.Get(b.ctx, "big").Result()
	if d := time.Since(began); err != nil || len(got) != bytes || d < bytes*time.Second/perSecond {
		t.Errorf("%d bytes (%v) took %v at %d bytes a second", len(got), err, d, perSecond)
	}
	check(t, b.client("c2", "n1").Get(b.ctx, "big").Err())
	ctx, cancel := context.WithCancel(b.ctx)
	cancel()
	i.Heal(ctx)
	for range 2 {
		check(t, i.Heal(b.ctx))
	}
	b.eventually("it is quick again", func() bool {
		began := time.Now()
		return c.Get(b.ctx, "big").Err() == nil && time.Since(began) < bytes*time.Second/perSecond/2
	})
}

// The narrowest of several counts, whichever came first, and what is left counts once it has healed.
func TestRatesCompose(t *testing.T) {
	const (
		bytes        = 2000
		narrow, wide = 8000, 20_000 // bytes a second
	)
	b := newBench(t, nil)
	b.env = b.env.Together()
	check(t, b.direct(0).Set(b.ctx, "big", strings.Repeat("x", bytes), 0).Err())
	c := b.client("c1", "n1")
	least := func(rate int) time.Duration { return bytes * time.Second / time.Duration(rate) }
	get := func() time.Duration {
		began := time.Now()
		check(t, c.Get(b.ctx, "big").Err())
		return time.Since(began)
	}
	wantNarrow := func(when string, rate int) {
		t.Helper()
		if d := get(); d < least(rate) {
			t.Errorf("%s: %d bytes took %v at %d bytes a second", when, bytes, d, rate)
		}
	}
	of := map[int]nemesis.Target{narrow: target("n1"), wide: target("c1")}
	for _, order := range [][2]int{{narrow, wide}, {wide, narrow}} {
		in := map[int]nemesis.Injection{}
		for _, rate := range order {
			in[rate] = b.inject(nemesis.NewRate(nemesis.RateSpec{Of: of[rate], Bandwidth: int64(rate)}))
		}
		wantNarrow("both", narrow)
		check(t, in[order[0]].Heal(b.ctx))
		left := order[1]
		wantNarrow("one has healed", left)
		if left == wide {
			b.eventually("what has healed counts no more", func() bool { return get() < least(narrow) })
		}
		check(t, in[left].Heal(b.ctx))
		b.eventually("it is quick again", func() bool { return get() < least(wide) })
	}
}

// In a ring each client reaches a majority of the servers, and all of them once it has healed.
func TestRingOfRealServers(t *testing.T) {
	b := newServers(t, redis.Service(), 3)
	reaches := func(client string) (answered int) {
		for _, node := range []string{"n1", "n2", "n3"} {
			c := goredis.NewClient(&goredis.Options{Addr: b.net.Addr(client, node), MaxRetries: -1, ReadTimeout: quiet, DialerRetries: 1, DisableIdentity: true, Protocol: 2})
			if c.Ping(b.ctx).Err() == nil {
				answered++
			}
			c.Close()
		}
		return answered
	}
	i := b.inject(nemesis.NewPartition(nemesis.PartitionSpec{Of: target(nemesis.All), Shape: nemesis.Ring}))
	for _, client := range []string{"c1", "c2"} {
		b.eventually(client+" reaches two of three", func() bool { return reaches(client) == 2 })
	}
	ctx, cancel := context.WithCancel(b.ctx)
	cancel()
	i.Heal(ctx)
	for range 2 {
		check(t, i.Heal(b.ctx))
	}
	for _, client := range []string{"c1", "c2"} {
		b.eventually(client+" reaches all", func() bool { return reaches(client) == 3 })
	}
}
