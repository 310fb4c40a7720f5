//go:build privileged

package nemesis_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	goredis "github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/locks/postgres"
	"github.com/locktest/locktest/locks/redis"
	"github.com/locktest/locktest/nemesis"
)

// hole is healed when the test ends, whatever became of it.
func (b *bench) hole(of string) nemesis.Injection {
	b.t.Helper()
	i := b.inject(nemesis.NewBlackHole(target(of)))
	b.t.Cleanup(func() { i.Heal(context.Background()) })
	return i
}

// healHole heals three times, first under a context that has ended, and wants no rule to be left.
func (b *bench) healHole(i nemesis.Injection) {
	b.t.Helper()
	dead, cancel := context.WithCancel(b.ctx)
	cancel()
	i.Heal(dead)
	for range 2 {
		check(b.t, i.Heal(b.ctx))
	}
	if rules := holes(b.t); rules != "" {
		b.t.Errorf("rules are left:\n%s", rules)
	}
}

// holes are the lines about our chains in the system's rules.
func holes(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("iptables-save", "-t", "filter").Output()
	check(t, err)
	var lines []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "lt-hole-") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func TestPrivilegedBlackHole(t *testing.T) {
	b := newServers(t, redis.Service(), 2)
	c, other := b.client("c1", "n1"), b.client("c2", "n1")
	check(t, c.Ping(b.ctx).Err())
	check(t, other.Ping(b.ctx).Err())
	i := b.hole("c1")
	if holes(t) == "" {
		t.Error("there are no rules")
	}
	answer := b.set(c, "k")
	b.wantSilence(answer)
	b.wantKey(b.direct(0), "k", 0)
	for _, node := range []string{"n1", "n2"} {
		conn, err := net.DialTimeout("tcp", b.net.Addr("c1", node), quiet)
		if err == nil {
			conn.Close()
		}
		if timeout, ok := err.(net.Error); !ok || !timeout.Timeout() {
			t.Errorf("a new connection to %s: %v, want no answer at all", node, err)
		}
	}
	check(t, other.Ping(b.ctx).Err())
	check(t, b.client("c2", "n2").Ping(b.ctx).Err())
	b.healHole(i)
	check(t, <-answer) // by retransmission
	b.wantKey(b.direct(0), "k", 1)
	check(t, b.client("c1", "n2").Ping(b.ctx).Err())
}

// The end of a connection doesn't get through either: that is what tells a black hole from a client that has gone.
func TestPrivilegedBlackHoleHidesTheEnd(t *testing.T) {
	b := newServers(t, redis.Service(), 1)
	connected := func(name string) bool { return strings.Contains(b.direct(0).ClientList(b.ctx).Val(), "name="+name+" ") }
	leave := func(client, name string) *goredis.Client {
		c := goredis.NewClient(&goredis.Options{Addr: b.net.Addr(client, "n1"), ClientName: name, PoolSize: 1})
		check(t, c.Ping(b.ctx).Err())
		return c
	}
	lost, gone := leave("c1", "lost"), leave("c2", "gone")
	i := b.hole("c1")
	lost.Close()
	gone.Close()
	b.eventually("the server sees the end of the other one", func() bool { return !connected("gone") })
	if !connected("lost") {
		t.Error("the server saw the end of a connection in a black hole")
	}
	b.healHole(i)
	b.eventually("the end arrives", func() bool { return !connected("lost") })
}

// A server that sends keep-alives finds a client in a black hole gone, and frees its lock; behind a link that is held it never
// does, since the link answers in the client's place.
func TestPrivilegedBlackHoleIsFoundByKeepAlives(t *testing.T) {
	b := newServersWith(t, process.Options{Service: postgres.Service(), Nodes: 1, Server: map[string]string{"keepalives": "fast"}})
	dial := func(addr string) *pgconn.PgConn {
		host, port, _ := strings.Cut(addr, ":")
		c, err := pgconn.Connect(b.ctx, "host="+host+" port="+port+" user=postgres dbname=postgres sslmode=disable")
		check(t, err)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			c.Close(ctx)
		})
		return c
	}
	ask := func(c *pgconn.PgConn, sql string) string {
		results, err := c.Exec(b.ctx, sql).ReadAll()
		check(t, err)
		return string(results[0].Rows[0][0])
	}
	outside := dial(b.env.Nodes[0].Addr())
	held := func(key string) bool {
		return ask(outside, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objid = "+key) == "1"
	}
	lost, behind := dial(b.net.Addr("c1", "n1")), dial(b.net.Addr("c2", "n1"))
	ask(lost, "SELECT pg_advisory_lock(1)")
	ask(behind, "SELECT pg_advisory_lock(2)")
	hold := b.inject(nemesis.NewPartition(nemesis.PartitionSpec{Of: target("c2"), Mode: cluster.Hold}))
	hole := b.hole("c1")
	began := time.Now()
	if !held("1") || !held("2") {
		t.Fatal("the locks aren't held at first")
	}
	b.eventually("the lock of the client in the black hole is free", func() bool { return !held("1") })
	t.Logf("free after %v", time.Since(began).Round(10*time.Millisecond))
	for end := time.Now().Add(2 * time.Since(began)); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if !held("2") {
			t.Fatal("the lock behind a held link was freed")
		}
	}
	b.healHole(hole)
	check(t, hold.Heal(b.ctx))
	if got := ask(behind, "SELECT pg_advisory_unlock(2)"); got != "t" {
		t.Errorf("the client behind the held link no longer has its lock: %s", got)
	}
	if _, err := lost.Exec(b.ctx, "SELECT 1").ReadAll(); err == nil {
		t.Error("the session of the client in the black hole lives")
	}
}

// Nodes that talk to each other lose their packets too.
func TestPrivilegedBlackHoleBetweenNodes(t *testing.T) {
	b := newServers(t, redis.ReplicatedService(), 2)
	written := func(i int, key string) bool { return b.direct(i).Exists(b.ctx, key).Val() == 1 }
	check(t, b.direct(0).Set(b.ctx, "before", "1", 0).Err())
	b.eventually("the replica follows", func() bool { return written(1, "before") })
	i := b.hole("n2")
	check(t, b.direct(0).Set(b.ctx, "meanwhile", "1", 0).Err())
	for end := time.Now().Add(2 * quiet); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if written(1, "meanwhile") {
			t.Fatal("a write reached the replica through a black hole")
		}
	}
	b.healHole(i)
	b.eventually("the replica catches up", func() bool { return written(1, "meanwhile") })
}

func TestPrivilegedBlackHoleIsRefusedWithoutIPTables(t *testing.T) {
	b := newServers(t, redis.Service(), 1)
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	err := nemesis.NewBlackHole(target("c1")).Check(b.env)
	t.Setenv("PATH", path)
	if err == nil || !strings.Contains(err.Error(), "iptables") {
		t.Errorf("Check() = %v", err)
	}
}
