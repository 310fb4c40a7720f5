//go:build integration

package nemesis_test

import (
	"context"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/etcdd"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks/etcd"
	"github.com/locktest/locktest/locks/redis"
	"github.com/locktest/locktest/locks/zookeeper"
	"github.com/locktest/locktest/nemesis"
)

// Sentinels that are asked for a failover choose one of two replicas, and tell the old primary.
func TestFailoverBySentinels(t *testing.T) {
	b := newServers(t, redis.SentinelService(), 6)
	b.leaders("n1")
	i := b.inject(nemesis.NewFailover(nemesis.Target{}, false))
	next := b.leader("n1")
	check(t, b.client("c1", next).Set(b.ctx, "k", "1", 0).Err())
	b.healThrice(i)
	b.eventually("the old primary follows", func() bool { return b.direct(0).Get(b.ctx, "k").Val() == "1" })
	if now := b.leader(""); now != next {
		t.Errorf("%s leads, after %s did", now, next)
	}
}

// The leader of a quorum hands over to the member that is named, and needs nobody to tell it.
func TestFailoverOfEtcd(t *testing.T) {
	b := newServers(t, etcd.Service(etcdd.Version), 3)
	old := b.leader("")
	i := b.inject(nemesis.NewFailover(target(nemesis.Replica), false))
	next := b.leader(old)
	if len(i.Targets) != 1 || i.Targets[0] != next {
		t.Errorf("%s leads, the fault is on %v", next, i.Targets)
	}
	b.healThrice(i)
	if now := b.leader(""); now != next {
		t.Errorf("%s leads after healing", now)
	}
}

// ZooKeeper knows no way to choose.
func TestFailoverOfZooKeeperIsRefused(t *testing.T) {
	b := newServers(t, zookeeper.Service(), 1)
	if err := nemesis.NewFailover(nemesis.Target{}, false).Check(b.env); err == nil {
		t.Error("it isn't refused")
	}
}

// The leader is killed again and again: each time who leads then, and each comes back.
func TestLeaderIsKilledAgainAndAgain(t *testing.T) {
	b := newServers(t, etcd.Service(etcdd.Version), 3)
	b.leader("")
	every, lasts := nemesis.Range{Min: 4 * time.Second, Max: 4 * time.Second}, nemesis.Range{Min: time.Second, Max: time.Second}
	window := nemesis.Window{Until: 12 * time.Second}
	plans, err := nemesis.Lay([]nemesis.Entry{{
		Fault: nemesis.NewKill(nemesis.KillSpec{Of: target(nemesis.Leader)}), Trigger: nemesis.Trigger{Every: &every}, For: lasts,
	}}, 1, window)
	check(t, err)
	ctx, cancel := context.WithTimeout(b.ctx, window.Until+time.Second)
	defer cancel()
	d := &diary{began: time.Now()}
	check(t, nemesis.Run(ctx, b.env, plans, d))
	var killed []string
	for _, op := range d.ops {
		if op.Type == history.FaultBegin {
			killed = append(killed, op.Targets...)
		}
	}
	if len(killed) < 2 || killed[0] == killed[1] {
		t.Errorf("killed %v", killed)
	}
	b.leader("")
	for _, n := range b.env.Nodes {
		if n.(cluster.Pidded).Pid() == 0 {
			t.Errorf("%s is down", n.Name())
		}
	}
}
