//go:build integration

package nemesis_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/etcdd"
	"github.com/locktest/locktest/locks/etcd"
	"github.com/locktest/locktest/locks/postgres"
	"github.com/locktest/locktest/locks/zookeeper"
	"github.com/locktest/locktest/nemesis"
)

// These tests are the table of what each server does with each of its clocks. That of Redis is in the other file on clocks.

func jump(clock string, d time.Duration) nemesis.Fault {
	return nemesis.NewClock(nemesis.ClockSpec{Of: target("n1"), Clock: clock, Jump: d})
}

// offset is how far a node says that it is ahead.
func (b *bench) offset(i int) time.Duration {
	b.t.Helper()
	now, err := b.env.Nodes[i].(cluster.Clocked).Time(b.ctx)
	check(b.t, err)
	return time.Until(now)
}

// A lease of etcd runs by the monotonic clock.
func TestClocksOfEtcd(t *testing.T) {
	b := newServers(t, etcd.Service(etcdd.Version), 1)
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{b.env.Nodes[0].Addr()}, DialTimeout: limit, Logger: zap.NewNop()})
	check(t, err)
	defer c.Close()
	lease, err := c.Grant(b.ctx, 100)
	check(t, err)
	left := func() time.Duration {
		r, err := c.TimeToLive(b.ctx, lease.ID)
		check(t, err)
		return time.Duration(r.TTL) * time.Second
	}
	for _, d := range []time.Duration{time.Hour, -time.Hour} {
		i := b.inject(jump(nemesis.Wall, d))
		if got := left(); !near(got, 100*time.Second) {
			t.Errorf("wall clock %v: the lease lasts %v", d, got)
		}
		if got := b.offset(0); !near(got, d) {
			t.Errorf("wall clock %v: it says that it is %v ahead", d, got)
		}
		b.healThrice(i)
		if got := b.offset(0); !near(got, 0) {
			t.Errorf("wall clock %v, healed: it says that it is %v ahead", d, got)
		}
	}
	i := b.inject(jump(nemesis.Monotonic, 40*time.Second))
	if got := left(); !near(got, 60*time.Second) {
		t.Errorf("monotonic clock 40 s ahead: the lease lasts %v, want about a minute", got)
	}
	b.healThrice(i)
	b.eventually("the member that was started anew answers", func() bool {
		ctx, cancel := context.WithTimeout(b.ctx, time.Second)
		defer cancel()
		_, err := c.TimeToLive(ctx, lease.ID)
		return err == nil
	})
}

// PostgreSQL's clock_timestamp() follows the wall clock alone, and an advisory lock follows neither.
func TestClocksOfPostgres(t *testing.T) {
	b := newServers(t, postgres.Service(), 1)
	holder, err := b.postgres(0)
	check(t, err)
	other, err := b.postgres(0)
	check(t, err)
	if !locked(b.ctx, holder) {
		t.Fatal("the lock was not granted")
	}
	now := func() time.Duration {
		var at time.Time
		check(t, holder.QueryRow(b.ctx, "SELECT clock_timestamp()").Scan(&at))
		return time.Until(at)
	}
	for _, c := range []struct {
		clock      string
		jump, want time.Duration
	}{{nemesis.Wall, time.Hour, time.Hour}, {nemesis.Wall, -time.Hour, -time.Hour}, {nemesis.Monotonic, time.Hour, 0}} {
		i := b.inject(jump(c.clock, c.jump))
		if got := now(); !near(got, c.want) {
			t.Errorf("%s clock %v: clock_timestamp() is %v ahead", c.clock, c.jump, got)
		}
		if got := b.offset(0); !near(got, c.want) {
			t.Errorf("%s clock %v: a new session says that it is %v ahead", c.clock, c.jump, got)
		}
		if locked(b.ctx, other) {
			t.Fatalf("%s clock %v: the held lock was granted again", c.clock, c.jump)
		}
		b.healThrice(i)
	}
}

// mute keeps the library's reports of the restart, which is meant, out of the test's output.
type mute struct{}

func (mute) Printf(string, ...any) {}

// A session of ZooKeeper runs by the monotonic clock; times of nodes are the wall clock's.
func TestClocksOfZooKeeper(t *testing.T) {
	b := newServers(t, zookeeper.Service(), 1)
	conn, events, err := zk.Connect([]string{b.env.Nodes[0].Addr()}, 20*time.Second, zk.WithLogger(mute{}))
	check(t, err)
	defer conn.Close()
	_, err = conn.Create("/held", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	check(t, err)
	session := conn.SessionID()
	for _, d := range []time.Duration{time.Minute, -time.Minute} {
		i := b.inject(jump(nemesis.Wall, d))
		if got := b.offset(0); !near(got, d) {
			t.Errorf("wall clock %v: it says that it is %v ahead", d, got)
		}
		for end := time.Now().Add(10 * quiet); time.Now().Before(end); { // sessions are looked through at every tick of 200 ms
			there, _, err := conn.Exists("/held")
			check(t, err)
			if !there {
				t.Fatalf("wall clock %v: the session ended", d)
			}
		}
		b.healThrice(i)
	}
	if now := conn.SessionID(); now != session {
		t.Errorf("the session is %x, it was %x", now, session)
	}
	i := b.inject(jump(nemesis.Monotonic, time.Minute))
	deadline := time.After(limit)
	for expired := false; !expired; {
		select {
		case e := <-events:
			expired = e.State == zk.StateExpired
		case <-deadline:
			t.Fatal("monotonic clock a minute ahead: the session of 20 s goes on")
		}
	}
	b.healThrice(i)
}
