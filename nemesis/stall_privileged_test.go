//go:build privileged

package nemesis_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/etcdd"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/locks/etcd"
	"github.com/locktest/locktest/locks/redis"
	"github.com/locktest/locktest/nemesis"
)

// noDisks fails if a disk of ours is still mounted once everything of the test is closed.
func noDisks(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		table, err := os.ReadFile("/proc/self/mounts")
		check(t, err)
		for line := range strings.Lines(string(table)) {
			if strings.Contains(line, dir) {
				t.Errorf("left: %s", line)
			}
		}
	})
}

// stallBench is of Redis servers that write each command to their disks before they answer.
func stallBench(t *testing.T) *bench {
	noDisks(t)
	return newServersWith(t, process.Options{Service: redis.Service(), Nodes: 2, Disks: true, Server: map[string]string{"persistence": "aof-always"}})
}

// A server that waits for its disk answers nobody; once the disk goes on it answers all, and others never notice.
func TestPrivilegedStall(t *testing.T) {
	b := stallBench(t)
	c := b.client("c1", "n1")
	check(t, c.Ping(b.ctx).Err())
	i := b.inject(nemesis.NewStall(target("n1")))
	answer := b.set(c, "k")
	b.wantSilence(answer)
	check(t, b.client("c1", "n2").Set(b.ctx, "k", "1", 0).Err())
	b.healThrice(i)
	check(t, <-answer)
	b.wantKey(b.direct(0), "k", 1)
}

// A stopped server stays stopped when its disk goes on, and one whose disk hangs can be killed.
func TestPrivilegedStallsCompose(t *testing.T) {
	b := stallBench(t)
	stall := b.inject(nemesis.NewStall(target("n1")))
	answer := b.set(b.client("c1", "n1"), "k")
	b.wantSilence(answer)
	pause := b.inject(nemesis.NewPause(target("n1")))
	check(t, stall.Heal(b.ctx))
	b.wantSilence(answer)
	check(t, pause.Heal(b.ctx))
	check(t, <-answer)

	again := b.inject(nemesis.NewStall(target("n1")))
	late := b.set(b.client("c1", "n1"), "late")
	b.wantSilence(late)
	kill := b.inject(nemesis.NewKill(nemesis.KillSpec{Of: target("n1")}))
	if err := <-late; err == nil {
		t.Error("a killed server answered")
	}
	check(t, kill.Heal(b.ctx))
	check(t, again.Heal(b.ctx))
	check(t, b.client("c1", "n1").Set(b.ctx, "k", "2", 0).Err())
}

// All that can be done to a server is done while its disk hangs twice over, and something is always being written.
func TestPrivilegedStallUnderEverythingElse(t *testing.T) {
	b := stallBench(t)
	one := target("n1")
	at := func(f nemesis.Fault, begin, lasts time.Duration) nemesis.Entry {
		return nemesis.Entry{Fault: f, Trigger: nemesis.Trigger{At: &nemesis.Range{Min: begin, Max: begin}}, For: nemesis.Range{Min: lasts, Max: lasts}}
	}
	ms := time.Millisecond
	entries := []nemesis.Entry{
		at(nemesis.NewStall(one), 100*ms, 1500*ms), at(nemesis.NewStall(one), 300*ms, 2500*ms),
		at(nemesis.NewPause(one), 600*ms, 400*ms), at(nemesis.NewThrottle(one, 0.5), 700*ms, 600*ms),
		at(nemesis.NewClock(nemesis.ClockSpec{Of: one, Jump: time.Hour}), 800*ms, 800*ms), at(nemesis.NewKill(nemesis.KillSpec{Of: one}), 1900*ms, 300*ms),
		at(nemesis.NewStall(one), 2400*ms, 300*ms),
	}
	plans, err := nemesis.Lay(entries, 1, nemesis.Window{Until: 4 * time.Second})
	check(t, err)
	ctx, cancel := context.WithTimeout(b.ctx, 4*time.Second)
	defer cancel()
	writer := b.client("c2", "n1")
	go func() {
		for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
			writer.Set(ctx, "k", "1", 0) // refused while it is dead
		}
	}()
	d := &diary{began: time.Now()}
	check(t, nemesis.Run(ctx, b.env, plans, d))
	d.wantClosed(t, len(entries))
	check(t, b.client("c1", "n1").Set(b.ctx, "k", "2", 0).Err())
	if got := b.ahead(b.direct(0)); !near(got, 0) {
		t.Errorf("its clock is %v ahead", got)
	}
}

func TestPrivilegedStallOfTheDeadIsMissed(t *testing.T) {
	b := stallBench(t)
	check(t, b.env.Nodes[0].(cluster.Killer).Kill(b.ctx))
	if _, err := nemesis.NewStall(target("n1")).Inject(b.ctx, b.env); err == nil {
		t.Error("the disk of a dead node was frozen")
	}
}

// A quorum goes on without the member whose disk hangs.
func TestPrivilegedStallOfALeader(t *testing.T) {
	noDisks(t)
	b := newServersWith(t, process.Options{Service: etcd.Service(etcdd.Version), Nodes: 3, Disks: true})
	old := b.leader("")
	i := b.inject(nemesis.NewStall(target(nemesis.Leader)))
	var others []string
	for _, n := range b.env.Nodes {
		if n.Name() != old {
			others = append(others, n.Addr())
		}
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: others, DialTimeout: limit, Logger: zap.NewNop()})
	check(t, err)
	defer c.Close()
	b.eventually("the others take writes", func() bool {
		ctx, cancel := context.WithTimeout(b.ctx, quiet)
		defer cancel()
		_, err := c.Put(ctx, "k", "1")
		return err == nil
	})
	b.healThrice(i)
	b.leader("")
}
