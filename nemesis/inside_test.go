package nemesis_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jackc/pgx/v5/pgconn"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/locktest/locktest/cluster/etcdd"
	"github.com/locktest/locktest/locks/etcd"
	"github.com/locktest/locktest/locks/postgres"
	"github.com/locktest/locktest/locks/redis"
	"github.com/locktest/locktest/locks/zookeeper"
	"github.com/locktest/locktest/nemesis"
)

func TestConnectionKillByRedis(t *testing.T) {
	b := newServers(t, redis.Service(), 1)
	c, other := b.client("c1", "n1"), b.client("c2", "n1")
	id := func() int64 { return b.direct(0).ClientID(b.ctx).Val() }
	mine, err := c.ClientID(b.ctx).Result()
	check(t, err)
	others, err := other.ClientID(b.ctx).Result()
	check(t, err)
	i := b.inject(nemesis.NewConnectionKill(target("c1")))
	if err := c.Ping(b.ctx).Err(); err == nil && c.ClientID(b.ctx).Val() == mine {
		t.Error("the connection lives")
	}
	if got := other.ClientID(b.ctx).Val(); got != others {
		t.Errorf("the connection of another client is now %d, was %d", got, others)
	}
	b.wantText(b.heal(i), "end the connections of c1 from the server's side (1 connection)")
	b.eventually("the client connects anew", func() bool { return c.Ping(b.ctx).Err() == nil })
	if id() == 0 {
		t.Error("the server is gone")
	}
}

// Nothing to end: the fault did not apply.
func TestConnectionKillOfNobody(t *testing.T) {
	b := newServers(t, redis.Service(), 1)
	i := b.inject(nemesis.NewConnectionKill(target("c1")))
	check(t, i.Heal(b.ctx))
	if _, err := i.Result(); !errors.Is(err, nemesis.ErrNoTarget) {
		t.Errorf("result: %v", err)
	}
}

func TestConnectionKillByPostgres(t *testing.T) {
	b := newServers(t, postgres.Service(), 1)
	dial := func(addr string) *pgconn.PgConn {
		host, port, _ := strings.Cut(addr, ":")
		c, err := pgconn.Connect(b.ctx, "host="+host+" port="+port+" user=postgres dbname=postgres sslmode=disable")
		check(t, err)
		t.Cleanup(func() { c.Close(context.Background()) })
		return c
	}
	ask := func(c *pgconn.PgConn, sql string) (string, error) {
		results, err := c.Exec(b.ctx, sql).ReadAll()
		if err != nil {
			return "", err
		}
		return string(results[0].Rows[0][0]), nil
	}
	holder, other := dial(b.net.Addr("c1", "n1")), dial(b.net.Addr("c2", "n1"))
	_, err := ask(holder, "SELECT pg_advisory_lock(7)")
	check(t, err)
	if got, err := ask(other, "SELECT pg_try_advisory_lock(7)"); err != nil || got != "f" {
		t.Fatalf("another one got the lock: %s, %v", got, err)
	}
	i := b.inject(nemesis.NewConnectionKill(target("c1")))
	if _, err := ask(holder, "SELECT 1"); err == nil {
		t.Error("the session lives")
	}
	if got, err := ask(other, "SELECT pg_try_advisory_lock(7)"); err != nil || got != "t" {
		t.Errorf("the lock of the session is still held: %s, %v", got, err)
	}
	b.wantText(b.heal(i), "end the connections of c1 from the server's side (1 connection)")
	if _, err := ask(dial(b.net.Addr("c1", "n1")), "SELECT 1"); err != nil {
		t.Errorf("a new connection: %v", err)
	}
	if err := nemesis.NewSessionExpire(target("c1")).Check(b.env); err == nil || !strings.Contains(err.Error(), "postgres can't be asked") {
		t.Errorf("session-expire is not refused: %v", err)
	}
}

func TestSessionExpireByEtcd(t *testing.T) {
	b := newServers(t, etcd.Service(etcdd.Version), 1)
	dial := func(addr string) *clientv3.Client {
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + addr}, Logger: zap.NewNop()})
		check(t, err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	grant := func(client, key string) {
		c := dial(b.net.Addr(client, "n1"))
		l, err := c.Grant(b.ctx, 600)
		check(t, err)
		_, err = c.Put(b.ctx, key, "1", clientv3.WithLease(l.ID))
		check(t, err)
	}
	outside := dial(b.env.Nodes[0].Addr())
	there := func(key string) bool {
		r, err := outside.Get(b.ctx, key)
		check(t, err)
		return r.Count == 1
	}
	grant("c1", "a")
	grant("c2", "b")
	i := b.inject(nemesis.NewSessionExpire(target("c1")))
	if there("a") || !there("b") {
		t.Errorf("the key of the client whose lease was revoked is there: %v; the other's: %v", there("a"), there("b"))
	}
	b.wantText(b.heal(i), "end the sessions of c1 from the server's side (1 session)")
	i = b.inject(nemesis.NewSessionExpire(target("c1")))
	if text, err := i.Result(); !errors.Is(err, nemesis.ErrNoTarget) {
		t.Errorf("a second time: %q, %v", text, err)
	}
	grant("c1", "a")
	if !there("a") {
		t.Error("no new lease can be had")
	}
}

func TestSessionExpireByZooKeeper(t *testing.T) {
	b := newServers(t, zookeeper.Service(), 3)
	connect := func(addr string) (*zk.Conn, <-chan zk.Event) {
		c, events, err := zk.Connect([]string{addr}, 30*time.Second, zk.WithLogInfo(false), zk.WithLogger(quietly{}))
		check(t, err)
		t.Cleanup(c.Close)
		awaitState(t, events, zk.StateHasSession)
		return c, events
	}
	outside, _ := connect(b.env.Nodes[0].Addr())
	c, events := connect(b.net.Addr("c1", "n2"))
	other, _ := connect(b.net.Addr("c2", "n3"))
	acl := zk.WorldACL(zk.PermAll)
	for path, c := range map[string]*zk.Conn{"/a": c, "/b": other} {
		_, err := c.Create(path, nil, zk.FlagEphemeral, acl)
		check(t, err)
	}
	there := func(path string) bool {
		_, err := outside.Sync(path)
		check(t, err)
		ok, _, err := outside.Exists(path)
		check(t, err)
		return ok
	}
	i := b.inject(nemesis.NewSessionExpire(target("c1")))
	if there("/a") || !there("/b") {
		t.Errorf("the ephemeral node of the session that was ended is there: %v; the other's: %v", there("/a"), there("/b"))
	}
	awaitState(t, events, zk.StateExpired)
	b.wantText(b.heal(i), "end the sessions of c1 from the server's side (1 session)")
	awaitState(t, events, zk.StateHasSession) // the library makes a new one
	_, err := c.Create("/a", nil, zk.FlagEphemeral, acl)
	check(t, err)
}

func awaitState(t *testing.T, events <-chan zk.Event, want zk.State) {
	t.Helper()
	end := time.After(limit)
	for {
		select {
		case e := <-events:
			if e.State == want {
				return
			}
		case <-end:
			t.Fatalf("no %v within %v", want, limit)
		}
	}
}

func TestFlushAndEvictByRedis(t *testing.T) {
	for name, tt := range map[string]struct {
		fault *nemesis.Inside
		text  string
	}{
		"flush": {nemesis.NewFlush(target("n1")), "flush n1"},
		"evict": {nemesis.NewEvict(target("n1")), "evict every key of n1 (50 keys)"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newServers(t, redis.Service(), 2)
			c := b.client("c1", "n1")
			check(t, b.direct(1).Set(b.ctx, "elsewhere", "1", 0).Err())
			for n := range 50 {
				check(t, c.Set(b.ctx, strings.Repeat("k", n+1), "1", time.Hour).Err())
			}
			memory := b.direct(0).ConfigGet(b.ctx, "maxmemory*").Val()
			i := b.inject(tt.fault)
			if n, err := b.direct(0).DBSize(b.ctx).Result(); err != nil || n != 0 {
				t.Errorf("%d keys are left (%v)", n, err)
			}
			b.wantKey(b.direct(1), "elsewhere", 1)
			b.wantText(b.heal(i), tt.text)
			after := b.direct(0).ConfigGet(b.ctx, "maxmemory*").Val()
			if after["maxmemory"] != memory["maxmemory"] || after["maxmemory-policy"] != memory["maxmemory-policy"] {
				t.Errorf("settings are now %v, were %v", after, memory)
			}
			check(t, c.Set(b.ctx, "new", "1", 0).Err())
			b.wantKey(b.direct(0), "new", 1)
		})
	}
}
