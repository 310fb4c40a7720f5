package nemesis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jackc/pgx/v5/pgconn"
	goredis "github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/etcdd"
	"github.com/locktest/locktest/internal/wire"
	"github.com/locktest/locktest/locks/etcd"
	"github.com/locktest/locktest/locks/postgres"
	"github.com/locktest/locktest/locks/redis"
	"github.com/locktest/locktest/locks/zookeeper"
	"github.com/locktest/locktest/nemesis"
)

// short is how long a client waits for an answer that won't come.
const short = 300 * time.Millisecond

func messages(of string, deed wire.Deed, kind wire.Kind, match string, nth int) nemesis.Fault {
	return nemesis.NewMessage(nemesis.MessageSpec{Of: target(of), Rule: cluster.MessageRule{Deed: deed, Kind: kind, Match: match, Nth: nth}})
}

// heal heals three times, first with a context that has ended, and returns what was done.
func (b *bench) heal(i nemesis.Injection) string {
	b.t.Helper()
	dead, cancel := context.WithCancel(b.ctx)
	cancel()
	i.Heal(dead)
	for range 2 {
		check(b.t, i.Heal(b.ctx))
	}
	text, err := i.Result()
	check(b.t, err)
	return text
}

func (b *bench) wantText(got, want string) {
	b.t.Helper()
	if !strings.HasPrefix(got, want) {
		b.t.Errorf("what was done is told as %q, want %q", got, want)
	}
}

func newRedis(t *testing.T) *bench {
	t.Helper()
	return newServers(t, redis.Service(), 1)
}

// impatient is a client that waits for no answer longer than short.
func (b *bench) impatient(name string) *goredis.Client {
	c := goredis.NewClient(&goredis.Options{Addr: b.net.Addr(name, "n1"), MaxRetries: -1, PoolSize: 1, ReadTimeout: short, DialerRetries: 1, DisableIdentity: true})
	b.t.Cleanup(func() { c.Close() })
	check(b.t, c.Ping(b.ctx).Err())
	return c
}

func TestMessagesToRedis(t *testing.T) {
	t.Run("the reply to the second SET is dropped: carried out, and nobody knows", func(t *testing.T) {
		b := newRedis(t)
		c, other := b.impatient("c1"), b.impatient("c2")
		i := b.inject(messages("c1", wire.Drop, wire.Reply, "set", 2))
		check(t, other.Set(b.ctx, "of another", "1", 0).Err())
		check(t, other.Set(b.ctx, "of another", "2", 0).Err())
		check(t, c.Set(b.ctx, "first", "1", 0).Err())
		check(t, c.SetEx(b.ctx, "another command", "1", time.Hour).Err())
		if err := c.Set(b.ctx, "second", "1", 0).Err(); err == nil {
			t.Error("the second SET was answered")
		}
		b.wantKey(b.direct(0), "second", 1)
		check(t, c.Set(b.ctx, "third", "1", 0).Err())
		b.wantText(b.heal(i), "dropped the reply of n1 to c1's SET second")
		check(t, c.Ping(b.ctx).Err())
	})
	t.Run("a pipeline keeps its other replies", func(t *testing.T) {
		b := newRedis(t)
		c := b.impatient("c1")
		i := b.inject(messages("c1", wire.Drop, wire.Reply, "GET b", 0))
		p := c.Pipeline()
		check(t, b.direct(0).MSet(b.ctx, "a", "1", "b", "2", "c", "3").Err())
		x, y, z := p.Get(b.ctx, "a"), p.Get(b.ctx, "b"), p.Get(b.ctx, "c")
		p.Exec(b.ctx) // the third answer never comes: the second one that came is taken for that of b
		if x.Val() != "1" || y.Val() != "3" || z.Err() == nil {
			t.Errorf("answers %q, %q and %v", x.Val(), y.Val(), z.Err())
		}
		b.heal(i)
	})
	t.Run("a request held back arrives after its client has gone on", func(t *testing.T) {
		b := newRedis(t)
		c := b.impatient("c1")
		i := b.inject(messages("c1", wire.Hold, wire.Request, "SET late", 1))
		if err := c.Set(b.ctx, "late", "1", 0).Err(); err == nil {
			t.Error("a held SET was answered")
		}
		check(t, c.Set(b.ctx, "next", "1", 0).Err()) // over a new connection
		b.wantKey(b.direct(0), "late", 0)
		b.wantText(b.heal(i), "held back c1's SET late")
		b.eventually("the held request arrives", func() bool { return b.direct(0).Exists(b.ctx, "late").Val() == 1 })
	})
	t.Run("a request is delayed", func(t *testing.T) {
		b := newRedis(t)
		c := b.client("c1", "n1")
		check(t, c.Ping(b.ctx).Err())
		i := b.inject(nemesis.NewMessage(nemesis.MessageSpec{Of: target("c1"), Rule: cluster.MessageRule{Deed: wire.Delay, Kind: wire.Request, Nth: 2, By: quiet}}))
		check(t, c.Ping(b.ctx).Err())
		began := time.Now()
		check(t, c.Ping(b.ctx).Err())
		if d := time.Since(began); d < quiet {
			t.Errorf("the answer came after %v", d)
		}
		b.wantText(b.heal(i), "delayed c1's PING to n1 by 150ms")
	})
	t.Run("healing lets a delayed one go", func(t *testing.T) {
		b := newRedis(t)
		c := b.client("c1", "n1")
		i := b.inject(nemesis.NewMessage(nemesis.MessageSpec{Of: target("c1"), Rule: cluster.MessageRule{Deed: wire.Delay, Kind: wire.Reply, Match: "SET", By: time.Hour}}))
		answer := b.set(c, "k")
		b.eventually("it is carried out", func() bool { return b.direct(0).Exists(b.ctx, "k").Val() == 1 })
		b.wantSilence(answer)
		b.heal(i)
		check(t, <-answer)
	})
	t.Run("a reset just before a reply", func(t *testing.T) {
		b := newRedis(t)
		c := b.client("c1", "n1")
		check(t, c.Ping(b.ctx).Err())
		i := b.inject(messages("c1", wire.Reset, wire.Reply, "SET", 1))
		if err := c.Set(b.ctx, "k", "1", 0).Err(); err == nil {
			t.Error("the SET was answered")
		}
		b.wantKey(b.direct(0), "k", 1)
		b.wantText(b.heal(i), "reset the connection before the reply of n1 to c1's SET k")
		check(t, c.Ping(b.ctx).Err())
	})
	for _, protocol := range []int{2, 3} {
		t.Run("a message of a channel is dropped", func(t *testing.T) {
			b := newRedis(t)
			c := goredis.NewClient(&goredis.Options{Addr: b.net.Addr("c1", "n1"), Protocol: protocol, DisableIdentity: true})
			defer c.Close()
			sub := c.Subscribe(b.ctx, "news")
			defer sub.Close()
			if _, err := sub.Receive(b.ctx); err != nil {
				t.Fatal(err)
			}
			i := b.inject(messages("c1", wire.Drop, wire.Push, "", 0))
			publish := func(text string) { check(t, b.direct(0).Publish(b.ctx, "news", text).Err()) }
			publish("dropped")
			check(t, sub.Ping(b.ctx))
			if m, err := sub.Receive(b.ctx); err != nil {
				t.Fatal(err)
			} else if _, ok := m.(*goredis.Pong); !ok {
				t.Errorf("received %v before the answer to a ping", m)
			}
			b.wantText(b.heal(i), "dropped what n1 told c1 (message news dropped)")
			publish("heard")
			if m, err := sub.ReceiveMessage(b.ctx); err != nil || m.Payload != "heard" {
				t.Errorf("received %v (%v)", m, err)
			}
		})
	}
	t.Run("where no rule is met nothing is changed", func(t *testing.T) {
		b := newRedis(t)
		c := b.client("c1", "n1")
		i := b.inject(messages("c1", wire.Hold, wire.Reply, "FLUSHALL", 1))
		p, want := c.Pipeline(), map[string]string{}
		for n := range 2000 {
			key := fmt.Sprint("k", n)
			want[key] = strings.Repeat(key, n%50)
			p.Set(b.ctx, key, want[key], 0)
		}
		_, err := p.Exec(b.ctx)
		check(t, err)
		for key, value := range want {
			if got := c.Get(b.ctx, key).Val(); got != value {
				t.Fatalf("%s is %q, was set to %q", key, got, value)
			}
		}
		big := strings.Repeat("0123456789abcdef", 200_000) // more than is kept of a message
		check(t, c.Set(b.ctx, "big", big, 0).Err())
		if got := c.Get(b.ctx, "big").Val(); got != big {
			t.Errorf("a value of %d bytes came back with %d", len(big), len(got))
		}
		check(t, i.Heal(b.ctx))
	})
	t.Run("nothing comes: the fault did not apply", func(t *testing.T) {
		b := newRedis(t)
		i := b.inject(messages("c1", wire.Drop, wire.Reply, "SET", 1))
		check(t, b.client("c1", "n1").Ping(b.ctx).Err())
		check(t, i.Heal(b.ctx))
		if text, err := i.Result(); !errors.Is(err, nemesis.ErrNoTarget) || text != "" {
			t.Errorf("result %q, %v", text, err)
		}
	})
}

func TestMessagesToPostgres(t *testing.T) {
	b := newServers(t, postgres.Service(), 1)
	var heard []string
	dial := func(addr string) *pgconn.PgConn {
		host, port, _ := strings.Cut(addr, ":")
		config, err := pgconn.ParseConfig("host=" + host + " port=" + port + " user=postgres dbname=postgres sslmode=disable")
		check(t, err)
		config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { heard = append(heard, n.Payload) }
		c, err := pgconn.ConnectConfig(b.ctx, config)
		check(t, err)
		t.Cleanup(func() { c.Close(context.Background()) })
		return c
	}
	run := func(ctx context.Context, c *pgconn.PgConn, sql string) (string, error) {
		results, err := c.Exec(ctx, sql).ReadAll()
		if err != nil || len(results) == 0 || len(results[0].Rows) == 0 {
			return "", err
		}
		return string(results[0].Rows[0][0]), nil
	}
	outside := dial(b.env.Nodes[0].Addr())
	_, err := run(b.ctx, outside, "CREATE TABLE t (v text)")
	check(t, err)
	count := func(v string) string {
		got, err := run(b.ctx, outside, "SELECT count(*) FROM t WHERE v = '"+v+"'")
		check(t, err)
		return got
	}

	c := dial(b.net.Addr("c1", "n1"))
	i := b.inject(messages("c1", wire.Drop, wire.Reply, "insert into t", 2))
	for _, v := range []string{"a", "b"} {
		ctx, cancel := context.WithTimeout(b.ctx, 2*short)
		_, err := run(ctx, c, "INSERT INTO t  VALUES ('"+v+"')")
		cancel()
		if (err != nil) != (v == "b") {
			t.Errorf("INSERT of %s: %v", v, err)
		}
		if got := count(v); got != "1" {
			t.Errorf("%s stands in the table %s times", v, got)
		}
	}
	b.wantText(b.heal(i), "dropped the reply of n1 to c1's INSERT INTO t VALUES ('b')")

	c = dial(b.net.Addr("c1", "n1"))
	i = b.inject(messages("c1", wire.Hold, wire.Request, "INSERT", 1))
	done := make(chan error, 1)
	go func() {
		// The extended protocol: a statement in several messages.
		done <- c.ExecParams(b.ctx, "INSERT INTO t VALUES ($1)", [][]byte{[]byte("held")}, nil, nil, nil).Read().Err
	}()
	b.wantSilence(done)
	if got := count("held"); got != "0" {
		t.Error("a held INSERT was carried out")
	}
	b.heal(i)
	check(t, <-done)
	if got := count("held"); got != "1" {
		t.Errorf("after healing it stands in the table %s times", got)
	}

	_, err = run(b.ctx, c, "LISTEN news")
	check(t, err)
	i = b.inject(messages("c1", wire.Drop, wire.Push, "news", 1))
	for _, text := range []string{"dropped", "heard"} {
		_, err = run(b.ctx, outside, "NOTIFY news, '"+text+"'")
		check(t, err)
	}
	check(t, c.WaitForNotification(b.ctx))
	b.wantText(b.heal(i), "dropped what n1 told c1 (news dropped)")
	if !slices.Equal(heard, []string{"heard"}) {
		t.Errorf("heard %v", heard)
	}
}

func TestMessagesToZooKeeper(t *testing.T) {
	b := newServers(t, zookeeper.Service(), 1)
	dial := func(addr string) *zk.Conn {
		c, events, err := zk.Connect([]string{addr}, 20*time.Second, zk.WithLogInfo(false), zk.WithLogger(quietly{}))
		check(t, err)
		t.Cleanup(c.Close)
		for e := range events {
			if e.State == zk.StateHasSession {
				break
			}
		}
		return c
	}
	outside, c := dial(b.env.Nodes[0].Addr()), dial(b.net.Addr("c1", "n1"))
	acl := zk.WorldACL(zk.PermAll)
	make1 := func(path string) <-chan error {
		done := make(chan error, 1)
		go func() { _, err := c.Create(path, nil, 0, acl); done <- err }()
		return done
	}
	there := func(path string) bool {
		ok, _, err := outside.Exists(path)
		check(t, err)
		return ok
	}

	i := b.inject(messages("c1", wire.Drop, wire.Reply, "create /b", 1))
	check(t, <-make1("/a"))
	lost := make1("/b")
	b.eventually("it is carried out", func() bool { return there("/b") })
	b.wantSilence(lost)
	b.wantText(b.heal(i), "dropped the reply of n1 to c1's create /b")

	_, _, watch, err := c.ExistsW("/a")
	check(t, err)
	i = b.inject(messages("c1", wire.Drop, wire.Push, "NodeDeleted", 1))
	check(t, outside.Delete("/a", -1))
	check(t, outside.Delete("/b", -1))
	if ok, _, err := c.Exists("/a"); err != nil || ok { // the event would have come before this answer
		t.Errorf("/a is there: %v, %v", ok, err)
	}
	select {
	case e := <-watch:
		t.Errorf("the watch was told %v", e)
	default:
	}
	b.wantText(b.heal(i), "dropped what n1 told c1 (NodeDeleted /a)")

	i = b.inject(messages("c1", wire.Hold, wire.Request, "create", 1))
	held := make1("/c")
	b.wantSilence(held)
	if there("/c") {
		t.Error("a held create was carried out")
	}
	b.heal(i)
	check(t, <-held)
}

// quietly takes what a library would print.
type quietly struct{}

func (quietly) Printf(string, ...any) {}

func TestMessagesToEtcd(t *testing.T) {
	b := newServers(t, etcd.Service(etcdd.Version), 1)
	dial := func(addr string) *clientv3.Client {
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + addr}, MaxUnaryRetries: 1, Logger: zap.NewNop()})
		check(t, err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	outside, c := dial(b.env.Nodes[0].Addr()), dial(b.net.Addr("c1", "n1"))
	put := func(key string) <-chan error {
		done := make(chan error, 1)
		go func() { _, err := c.Put(b.ctx, key, "1"); done <- err }()
		return done
	}
	there := func(key string) bool {
		r, err := outside.Get(b.ctx, key)
		check(t, err)
		return r.Count == 1
	}
	if err := messages("c1", wire.Drop, wire.Reply, "KV/Put", 1).Check(b.env); err == nil || !strings.Contains(err.Error(), "HTTP/2") {
		t.Errorf("dropping a reply is not refused: %v", err)
	}

	i := b.inject(messages("c1", wire.Hold, wire.Request, "KV/Put", 2))
	check(t, <-put("a"))
	held := put("b")
	b.wantSilence(held)
	if there("b") {
		t.Error("a held put was carried out")
	}
	b.wantText(b.heal(i), "held back c1's KV/Put to n1")
	check(t, <-held)

	i = b.inject(messages("c1", wire.Reset, wire.Reply, "KV/Put", 1))
	if err := <-put("c"); err == nil || !there("c") {
		t.Errorf("a put whose connection was reset before the reply: %v, carried out: %v", err, there("c"))
	}
	b.heal(i)

	watch := c.Watch(b.ctx, "w", clientv3.WithCreatedNotify())
	if r := <-watch; !r.Created {
		t.Fatalf("the watch began with %v", r)
	}
	i = b.inject(messages("c1", wire.Drop, wire.Push, "", 1))
	for _, v := range []string{"dropped", "heard"} {
		_, err := outside.Put(b.ctx, "w", v)
		check(t, err)
		b.eventually("a first event is met before the next one comes", func() bool { return v == "heard" || i.Result != nil && met(i) })
	}
	r := <-watch
	if len(r.Events) != 1 || string(r.Events[0].Kv.Value) != "heard" {
		t.Errorf("the watch was told %v", r.Events)
	}
	b.wantText(b.heal(i), "dropped what n1 told c1 (Watch/Watch)")
}

func met(i nemesis.Injection) bool {
	_, err := i.Result()
	return err == nil
}
