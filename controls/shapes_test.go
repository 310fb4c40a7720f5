//go:build integration

package controls

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/etcdd"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/internal/proc"
	"github.com/locktest/locktest/locks/etcd"
	"github.com/locktest/locktest/locks/postgres"
	"github.com/locktest/locktest/locks/redis"
	"github.com/locktest/locktest/locks/zookeeper"
	"github.com/locktest/locktest/nemesis"
)

// shape is a server as people run it.
type shape struct {
	name    string
	service cluster.Service
	nodes   int
	options map[string]string
	store   store
	front   string // whom users talk to; empty: the node that leads, or n1
	elects  bool   // another node leads when the leader is dead
	kept    bool   // what was written is there after the leader was killed
	wiped   bool   // it is gone once the leader comes back empty
}

func shapes() []shape {
	rs, pg, et, zo := redisStore(), postgresStore(), etcdStore(), zookeeperStore()
	etcds := etcd.Service(etcdd.Version)
	aof := func(how string) map[string]string { return map[string]string{"persistence": how} }
	pool := func(how string) map[string]string { return map[string]string{"pooler": how} }
	return []shape{
		{name: "redis, one, nothing persisted", service: redis.Service(), nodes: 1, store: rs, wiped: true},
		{name: "redis, one, AOF everysec", service: redis.Service(), nodes: 1, options: aof("aof-everysec"), store: rs, kept: true, wiped: true},
		{name: "redis, one, AOF always", service: redis.Service(), nodes: 1, options: aof("aof-always"), store: rs, kept: true, wiped: true},
		{name: "redis, five independent", service: redis.Service(), nodes: 5, store: rs, wiped: true},
		{name: "redis, primary and two replicas", service: redis.ReplicatedService(), nodes: 3, options: aof("aof-everysec"), store: rs, kept: true, wiped: true},
		{name: "redis, primary, two replicas, three Sentinels", service: redis.SentinelService(), nodes: 6, store: rs, elects: true, kept: true},
		{name: "postgres, one", service: postgres.Service(), nodes: 1, store: pg, kept: true, wiped: true},
		{name: "postgres, primary and replica", service: postgres.Service(), nodes: 2, store: pg, kept: true, wiped: true},
		{name: "postgres behind PgBouncer, transactions", service: postgres.Service(), nodes: 2, options: pool("transaction"), store: pg, front: "n1", kept: true, wiped: true},
		{name: "postgres behind PgBouncer, sessions", service: postgres.Service(), nodes: 2, options: pool("session"), store: pg, front: "n1", kept: true, wiped: true},
		{name: "etcd, one", service: etcds, nodes: 1, store: et, kept: true, wiped: true},
		{name: "etcd, three", service: etcds, nodes: 3, store: et, elects: true, kept: true},
		{name: "zookeeper, one", service: zookeeper.Service(), nodes: 1, store: zo, kept: true, wiped: true},
		{name: "zookeeper, three", service: zookeeper.Service(), nodes: 3, store: zo, elects: true, kept: true},
	}
}

// shapeLimit is how long anything may take that is to happen, shapeQuiet how long is waited for what must not.
const (
	shapeLimit = 60 * time.Second
	shapeQuiet = 600 * time.Millisecond
)

// measured is a line of the table.
type measured struct {
	name   string
	nodes  int
	ready  time.Duration
	memory uint64
}

// Every shape starts, serves, is paused, killed, restarted with and without its data, cut off, and healed, and leaves nothing.
func TestShapes(t *testing.T) {
	var rows []measured
	t.Cleanup(func() { t.Log(shapesTable(rows)) })
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			tmp, err := os.MkdirTemp("", "shapes-")
			must(t, err)
			t.Cleanup(func() { os.RemoveAll(tmp) })
			must(t, os.Chmod(tmp, 0o755)) // some servers run as nobody
			t.Setenv("TMPDIR", tmp)
			var pids []int
			t.Run("all of it", func(t *testing.T) {
				m := start(t, s)
				rows = append(rows, m.measure())
				m.serves()
				m.isPaused()
				m.isCutOff()
				m.isKilled(cluster.WithData, s.kept)
				m.isKilled(cluster.Empty, !s.wiped)
				pids = m.pids
			})
			nothingLeft(t, tmp, pids)
		})
	}
}

// machine is a shape that runs.
type machine struct {
	shape
	t       *testing.T
	cluster *process.Cluster
	net     cluster.Network
	env     nemesis.Env
	began   time.Time
	ready   time.Duration
	pids    []int // of all that ever ran
	round   int
}

func start(t *testing.T, s shape) *machine {
	t.Helper()
	o := process.Options{Service: s.service, Nodes: s.nodes, Server: s.options}
	if s.service.Child != "" {
		o.Self = catalog.Self()
	}
	began := time.Now()
	c, n := clustertest.Up(t, o, "c1")
	return &machine{shape: s, t: t, cluster: c, net: n, ready: time.Since(began),
		env: nemesis.Env{Nodes: c.Nodes(), Net: n, Clients: nobody{}, Rand: rand.New(rand.NewPCG(1, 2))}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// nobody is one client's name: what is done here is done to servers.
type nobody struct{}

func (nobody) Names() []string                       { return []string{"c1"} }
func (nobody) Separate() bool                        { return false }
func (nobody) Pause(context.Context, string) error   { return errors.ErrUnsupported }
func (nobody) Resume(context.Context, string) error  { return errors.ErrUnsupported }
func (nobody) Kill(context.Context, string) error    { return errors.ErrUnsupported }
func (nobody) Restart(context.Context, string) error { return errors.ErrUnsupported }

func (m *machine) measure() measured {
	m.t.Helper()
	out := measured{m.name, m.nodes, m.ready, 0}
	for _, n := range m.cluster.Nodes() {
		used, err := clustertest.Memory(n.(cluster.Pidded).Pid())
		if err != nil || used == 0 {
			m.t.Errorf("memory of %s: %d, %v", n.Name(), used, err)
		}
		out.memory += used
	}
	return out
}

// leader is the node that leads, or the first where nobody can. It waits until just one does.
func (m *machine) leader() string {
	m.t.Helper()
	if m.cluster.HasLeaders() != nil {
		return "n1"
	}
	var last []string
	m.eventually("one node leads", func(ctx context.Context) error {
		names, err := m.cluster.Leaders(ctx)
		if last = names; err == nil && len(names) != 1 {
			err = fmt.Errorf("%v lead", names)
		}
		return err
	})
	return last[0]
}

// address is where c1 talks to.
func (m *machine) address() string {
	if m.front != "" {
		return m.net.Addr("c1", m.front)
	}
	return m.net.Addr("c1", m.leader())
}

func (m *machine) eventually(what string, f func(ctx context.Context) error) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), shapeLimit)
	defer cancel()
	for {
		one, done := context.WithTimeout(ctx, 2*time.Second)
		err := f(one)
		done()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			m.t.Fatalf("not within %v: %s: %v", shapeLimit, what, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// serves writes something new and reads it again.
func (m *machine) serves() {
	m.t.Helper()
	m.round++
	value := fmt.Sprint("v", m.round)
	m.eventually("it serves", func(ctx context.Context) error {
		addr := m.address()
		if err := m.store.put(ctx, addr, "k", value); err != nil {
			return err
		}
		got, err := m.store.get(ctx, addr, "k")
		if err == nil && got != value {
			err = fmt.Errorf("it has %q, want %q", got, value)
		}
		return err
	})
	for _, n := range m.cluster.Nodes() {
		if pid := n.(cluster.Pidded).Pid(); pid != 0 {
			pids, err := proc.Tree(pid)
			must(m.t, err)
			m.pids = append(m.pids, pids...)
		}
	}
}

// silent wants no answer from an address for a while.
func (m *machine) silent(addr, why string) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), shapeQuiet)
	defer cancel()
	if err := m.store.put(ctx, addr, "silence", "broken"); err == nil {
		m.t.Errorf("%s, and it answered", why)
	} else if timeout, ok := errors.AsType[net.Error](err); ctx.Err() == nil && !(ok && timeout.Timeout()) {
		m.t.Errorf("%s, and it answered with %v", why, err)
	}
}

func (m *machine) inject(f nemesis.Fault) nemesis.Injection {
	m.t.Helper()
	must(m.t, f.Check(m.env))
	i, err := f.Inject(m.t.Context(), m.env)
	must(m.t, err)
	return i
}

func (m *machine) isPaused() {
	m.t.Helper()
	victim, addr := m.leader(), m.address()
	i := m.inject(nemesis.NewPause(nemesis.Target{Of: victim}))
	m.silent(addr, victim+" is paused")
	must(m.t, i.Heal(m.t.Context()))
	m.serves()
}

// isCutOff keeps c1 from the node that it talks to; others reach it.
func (m *machine) isCutOff() {
	m.t.Helper()
	victim := m.front
	if victim == "" {
		victim = m.leader()
	}
	i := m.inject(nemesis.NewPartition(nemesis.PartitionSpec{Groups: [][]string{{"c1"}, {victim}}}))
	m.silent(m.net.Addr("c1", victim), "c1 is cut off")
	m.eventually("others reach it", func(ctx context.Context) error {
		return m.store.put(ctx, m.node(victim).Addr(), "other", "1")
	})
	must(m.t, i.Heal(m.t.Context()))
	m.serves()
}

func (m *machine) isKilled(restart cluster.Restart, kept bool) {
	m.t.Helper()
	victim := m.leader()
	m.eventually("it is written", func(ctx context.Context) error { return m.store.put(ctx, m.address(), "before", "1") })
	if m.elects && m.store.spread != nil { // replication comes after the answer
		m.eventually("two replicas have it", func(ctx context.Context) error { return m.store.spread(ctx, m.address(), 2) })
	}
	i := m.inject(nemesis.NewKill(nemesis.KillSpec{Of: nemesis.Target{Of: victim}, Restart: restart}))
	if conn, err := net.DialTimeout("tcp", m.net.Addr("c1", victim), shapeQuiet); err == nil {
		conn.Close()
		m.t.Errorf("%s is dead, and takes connections", victim)
	}
	if m.elects {
		if next := m.leader(); next == victim {
			m.t.Errorf("%s is dead, and leads", victim)
		}
		m.serves()
	}
	must(m.t, i.Heal(m.t.Context()))
	m.serves()
	want := map[bool]string{true: "1", false: ""}[kept]
	m.eventually(fmt.Sprintf("after a restart (%s) what was written before is %q", restart, want), func(ctx context.Context) error {
		got, err := m.store.get(ctx, m.address(), "before")
		if err == nil && got != want {
			err = fmt.Errorf("it is %q", got)
		}
		return err
	})
}

func (m *machine) node(name string) cluster.Node {
	for _, n := range m.cluster.Nodes() {
		if n.Name() == name {
			return n
		}
	}
	m.t.Fatalf("there is no %s", name)
	return nil
}

// nothingLeft wants all processes gone and all folders removed, but for the list of ports in use, which stays.
func nothingLeft(t *testing.T, tmp string, pids []int) {
	t.Helper()
	if len(pids) == 0 {
		t.Error("no process was seen")
	}
	for _, pid := range pids {
		if all, err := proc.Tree(pid); err != nil || len(all) > 0 {
			t.Errorf("process %d is left: %v, %v", pid, all, err)
		}
	}
	entries, err := os.ReadDir(tmp)
	must(t, err)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "locktest-ports-") {
			t.Errorf("%s is left", e.Name())
		}
	}
}

func shapesTable(rows []measured) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\nshape\tprocesses\tready after\tmemory\tof each")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%d\t%.2f s\t%.0f MiB\t%.1f MiB\n", r.name, r.nodes, r.ready.Seconds(), float64(r.memory)/(1<<20), float64(r.memory)/float64(r.nodes)/(1<<20))
	}
	w.Flush()
	return b.String()
}
