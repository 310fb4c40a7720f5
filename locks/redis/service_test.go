package redis_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/embedded"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/locks/redis"
)

const serviceLimit = 30 * time.Second

func serverClient(t *testing.T, addr string) *goredis.Client {
	t.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: addr, MaxRetries: -1, PoolSize: 1, ReadTimeout: serviceLimit, DialerRetries: 1})
	t.Cleanup(func() { c.Close() })
	return c
}

func put(ctx context.Context, addr, key, value string) error {
	c := goredis.NewClient(&goredis.Options{Addr: addr, MaxRetries: -1, ReadTimeout: serviceLimit, DialerRetries: 1})
	defer c.Close()
	return c.Set(ctx, key, value, 0).Err()
}

func get(ctx context.Context, addr, key string) (string, bool, error) {
	c := goredis.NewClient(&goredis.Options{Addr: addr, MaxRetries: -1, ReadTimeout: serviceLimit, DialerRetries: 1})
	defer c.Close()
	value, err := c.Get(ctx, key).Result()
	if errors.Is(err, goredis.Nil) {
		return "", false, nil
	}
	return value, err == nil, err
}

// needServer fails without redis-server: a skip would go unseen.
func needServer(t *testing.T) string {
	t.Helper()
	path, err := process.Find(redis.Service())
	if err != nil {
		t.Fatalf("%v; make deps installs it", err)
	}
	return path
}

func TestRealServerConformance(t *testing.T) {
	needServer(t)
	for _, persistence := range []string{"none", "aof-everysec", "aof-always"} {
		t.Run(persistence, func(t *testing.T) {
			clustertest.Run(t, clustertest.Kit{
				New: func(t *testing.T) cluster.Cluster {
					c, err := process.New(process.Options{Service: redis.Service(), Nodes: 2, Spawner: clustertest.Spawner(t), LogDir: t.TempDir(),
						Server: map[string]string{"persistence": persistence}})
					if err != nil {
						t.Fatal(err)
					}
					return c
				},
				Put: put, Get: get, KeepsData: persistence != "none",
			})
		})
	}
}

func TestRealServerVersion(t *testing.T) {
	path := needServer(t)
	v, err := redis.Service().Version(context.Background(), path)
	if err != nil || !strings.HasPrefix(v, "redis-server ") || !strings.Contains(v, ".") {
		t.Errorf("Version() = %q, %v", v, err)
	}
	if _, err := redis.Service().Version(context.Background(), "/bin/true"); err == nil {
		t.Error("a program that isn't redis-server has a version")
	}
}

func TestCommandIsUnderstood(t *testing.T) {
	path := needServer(t)
	argv, _ := redis.Service().Command(cluster.NodeConfig{Host: "127.0.0.1", Port: 1, Dir: t.TempDir(), Options: map[string]string{"persistence": "sometimes"}})
	out, err := exec.Command(path, append(argv, "--no-such-option", "x")...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no-such-option") {
		t.Errorf("redis-server took an unknown option: %v %s", err, out)
	}
	if strings.Contains(strings.Join(argv, " "), "--appendonly yes") {
		t.Errorf("an unknown persistence keeps data: %v", argv)
	}
	if err := (&cluster.Service{Name: "redis", Options: redis.Service().Options}).CheckOptions(map[string]string{"persistence": "sometimes"}); err == nil {
		t.Error("an unknown persistence passed the check")
	}
}

func TestWipe(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "appendonlydir"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"dump.rdb", "appendonlydir/a.aof"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := redis.Service().Wipe(dir); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left: %v (%v)", left, err)
	}
}

func newEmbedded(t *testing.T) (*embedded.Cluster, cluster.Node, *goredis.Client) {
	t.Helper()
	c, err := embedded.New(embedded.Options{Service: redis.Service()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	n := c.Nodes()[0]
	return c, n, serverClient(t, n.Addr())
}

func restart(t *testing.T, n cluster.Node) {
	t.Helper()
	ctx := context.Background()
	if err := n.(cluster.Killer).Kill(ctx); err != nil {
		t.Fatal(err)
	}
	if err := n.(cluster.Killer).Restart(ctx, cluster.WithData); err != nil {
		t.Fatal(err)
	}
}

func TestEmbeddedServerExpiresKeysByItself(t *testing.T) {
	_, _, c := newEmbedded(t)
	ctx := context.Background()
	const ttl = 80 * time.Millisecond
	began := time.Now()
	if err := c.Set(ctx, "k", "1", ttl).Err(); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Exists(ctx, "k").Result(); time.Since(began) < ttl && (n != 1 || err != nil) {
		t.Errorf("gone before its time: %d, %v", n, err)
	}
	for end := time.Now().Add(serviceLimit); c.Exists(ctx, "k").Val() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the key never expired")
		}
	}
	if d := time.Since(began); d < ttl {
		t.Errorf("expired after %v, want %v", d, ttl)
	}
}

func TestEmbeddedServerAfterARestart(t *testing.T) {
	_, n, c := newEmbedded(t)
	ctx := context.Background()
	script := goredis.NewScript("return redis.call('GET', KEYS[1])")
	if err := c.Set(ctx, "k", "1", time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	if err := script.Load(ctx, c).Err(); err != nil {
		t.Fatal(err)
	}
	restart(t, n)
	again := serverClient(t, n.Addr())
	if err := script.EvalSha(ctx, again, []string{"k"}).Err(); !goredis.HasErrorPrefix(err, "NOSCRIPT") {
		t.Errorf("a script outlived a restart: %v", err)
	}
	if v, err := script.Eval(ctx, again, []string{"k"}).Result(); err != nil || v != "1" {
		t.Errorf("data after a restart: %v, %v", v, err)
	}
	// A blocking command gives up in its own time, not in the client's.
	if err := again.BLPop(ctx, 100*time.Millisecond, "list").Err(); !errors.Is(err, goredis.Nil) {
		t.Errorf("BLPOP after a restart: %v, want its own time-out", err)
	}
}

func TestEmbeddedServerKeepsWhatIsSentDuringAPause(t *testing.T) {
	_, n, c := newEmbedded(t)
	ctx := context.Background()
	if err := c.Set(ctx, "k", 0, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := n.(cluster.Pauser).Pause(ctx); err != nil {
		t.Fatal(err)
	}
	const users = 20
	answers := make(chan error, users)
	for range users {
		u := serverClient(t, n.Addr())
		go func() { answers <- u.Incr(ctx, "k").Err() }()
	}
	select {
	case err := <-answers:
		t.Fatalf("answered during the pause: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	if err := n.(cluster.Pauser).Resume(ctx); err != nil {
		t.Fatal(err)
	}
	for range users {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if got, err := c.Get(ctx, "k").Int(); err != nil || got != users {
		t.Errorf("after %d increments: %d, %v", users, got, err)
	}
}

// What was written in the last second is gone after a restart with an earlier state, and what was written before is there.
func TestRestartWithAnEarlierState(t *testing.T) {
	needServer(t)
	c, err := process.New(process.Options{Service: redis.Service(), Spawner: clustertest.Spawner(t), Server: map[string]string{"persistence": "aof-everysec"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	ctx := t.Context()
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	n := c.Nodes()[0]
	if err := put(ctx, n.Addr(), "early", "1"); err != nil {
		t.Fatal(err)
	}
	began := time.Now().Unix()
	for i := 0; time.Now().Unix() < began+2; i++ { // into a later second of the server's clock, which is ours
		if err := put(ctx, n.Addr(), "filler", "1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := put(ctx, n.Addr(), "late", "1"); err != nil {
		t.Fatal(err)
	}
	if err := n.(cluster.Killer).Kill(ctx); err != nil {
		t.Fatal(err)
	}
	if err := n.(cluster.Killer).Restart(ctx, cluster.WithPrefix); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := get(ctx, n.Addr(), "early"); !ok || err != nil {
		t.Errorf("what was flushed long ago is gone (%v)", err)
	}
	if _, ok, err := get(ctx, n.Addr(), "late"); ok || err != nil {
		t.Errorf("what was written last is there (%v)", err)
	}
}
