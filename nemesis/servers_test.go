package nemesis_test

import (
	"context"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/etcdd"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/cluster/proxy"
	"github.com/locktest/locktest/locks/etcd"
	"github.com/locktest/locktest/nemesis"
)

// These tests start servers of every kind; etcd is this program, started again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == etcd.ChildArg {
		etcdd.Main(os.Args[2:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// newServers is a bench of the nodes of one service, with the links that they have to each other and to clients.
func newServers(t *testing.T, s cluster.Service, nodes int) *bench {
	t.Helper()
	return newServersWith(t, process.Options{Service: s, Nodes: nodes})
}

func newServersWith(t *testing.T, o process.Options) *bench {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*limit)
	t.Cleanup(cancel)
	c, n := clustertest.UpLinked(t, o, proxy.Options{Clients: []string{"c1", "c2"}, Messages: true})
	return &bench{t: t, ctx: ctx, net: n, env: nemesis.Env{Nodes: c.Nodes(), Net: n, Clients: users{}, Rand: rand.New(rand.NewPCG(2, 2))}}
}

// leaders waits until those, and nobody else, lead.
func (b *bench) leaders(want ...string) {
	b.t.Helper()
	var got []string
	b.eventually("who leads", func() bool {
		got, _ = b.env.Nodes[0].(cluster.Leader).Leaders(b.ctx)
		return cmp.Equal(got, want)
	})
}

// leader waits until one leads that isn't but, and returns it.
func (b *bench) leader(but string) string {
	b.t.Helper()
	var got []string
	b.eventually("one other than "+but+" leads", func() bool {
		got, _ = b.env.Nodes[0].(cluster.Leader).Leaders(b.ctx)
		return len(got) == 1 && got[0] != but
	})
	return got[0]
}

func (b *bench) followers(want ...string) {
	b.t.Helper()
	b.eventually("who follows", func() bool {
		got, _ := b.env.Nodes[0].(cluster.Replicas).Replicas(b.ctx)
		return cmp.Equal(got, want)
	})
}

// healThrice heals on a context that has ended, which must not spoil anything, and then twice.
func (b *bench) healThrice(i nemesis.Injection) {
	b.t.Helper()
	dead, cancel := context.WithCancel(b.ctx)
	cancel()
	i.Heal(dead) // whether it can is its own business
	check(b.t, i.Heal(b.ctx))
	check(b.t, i.Heal(b.ctx))
}
