//go:build docker

package docker_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/moby/moby/client"
	goredis "github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/docker"
	"github.com/locktest/locktest/cluster/proxy"
	"github.com/locktest/locktest/internal/dockertest"
	"github.com/locktest/locktest/internal/proc"
	"github.com/locktest/locktest/locks/postgres"
	"github.com/locktest/locktest/locks/redis"
)

const limit = 30 * time.Second

func TestMain(m *testing.M) {
	docker.Quiet()
	os.Exit(m.Run())
}

func redisAt(addr string) *goredis.Client {
	return goredis.NewClient(&goredis.Options{Addr: addr, MaxRetries: -1, ReadTimeout: limit, DialerRetries: 1})
}

func putRedis(ctx context.Context, addr, key, value string) error {
	c := redisAt(addr)
	defer c.Close()
	return c.Set(ctx, key, value, 0).Err()
}

func getRedis(ctx context.Context, addr, key string) (string, bool, error) {
	c := redisAt(addr)
	defer c.Close()
	value, err := c.Get(ctx, key).Result()
	if errors.Is(err, goredis.Nil) {
		return "", false, nil
	}
	return value, err == nil, err
}

func postgresAt(ctx context.Context, addr string) (*pgx.Conn, error) {
	return pgx.Connect(ctx, "postgres://postgres@"+addr+"/postgres?sslmode=disable&default_query_exec_mode=simple_protocol")
}

func putPostgres(ctx context.Context, addr, key, value string) error {
	c, err := postgresAt(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, "CREATE TABLE IF NOT EXISTS kept (k text PRIMARY KEY, v text)"); err != nil {
		return err
	}
	_, err = c.Exec(ctx, "INSERT INTO kept VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = excluded.v", key, value)
	return err
}

func getPostgres(ctx context.Context, addr, key string) (value string, ok bool, err error) {
	c, err := postgresAt(ctx, addr)
	if err != nil {
		return "", false, err
	}
	defer c.Close(ctx)
	var there bool
	if err := c.QueryRow(ctx, "SELECT to_regclass('kept') IS NOT NULL").Scan(&there); err != nil || !there {
		return "", false, err
	}
	err = c.QueryRow(ctx, "SELECT v FROM kept WHERE k = $1", key).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", false, nil
	}
	return value, err == nil, err
}

func newCluster(t *testing.T, o docker.Options) *docker.Cluster {
	t.Helper()
	if o.LogDir == "" {
		o.LogDir = t.TempDir()
	}
	o.Run = t.Name()
	c, err := docker.New(o)
	if err != nil {
		t.Fatalf("%v; make docker starts an engine", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if left := ours(t); len(left) > 0 {
			t.Errorf("containers are left: %v", left)
		}
	})
	return c
}

func up(t *testing.T, o docker.Options) *docker.Cluster {
	t.Helper()
	c := newCluster(t, o)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// ours are the containers that this test has made.
func ours(t *testing.T) (names []string) {
	t.Helper()
	api, err := client.New(client.FromEnv)
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	r, err := api.ContainerList(context.Background(), client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", docker.LabelRun+"="+t.Name())})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Items {
		if c.Labels[docker.LabelHarness] != proc.OwnIdent() {
			t.Errorf("container %s is of harness %q, want %q", c.ID, c.Labels[docker.LabelHarness], proc.OwnIdent())
		}
		names = append(names, c.Labels[docker.LabelNode])
	}
	return names
}

func TestRedisConformance(t *testing.T) {
	image := dockertest.Redis(t)
	clustertest.Run(t, clustertest.Kit{
		New: func(t *testing.T) cluster.Cluster {
			return newCluster(t, docker.Options{Service: redis.Service(), Nodes: 2, Image: image, Server: map[string]string{"persistence": "aof-everysec"}})
		},
		Put: putRedis, Get: getRedis, KeepsData: true, Moves: true,
	})
}

// The nodes of PostgreSQL that are not replicas of each other: the kit wants two.
func TestPostgresConformance(t *testing.T) {
	image := dockertest.Postgres(t)
	service := postgres.Service()
	service.Peering = nil
	clustertest.Run(t, clustertest.Kit{
		New: func(t *testing.T) cluster.Cluster {
			return newCluster(t, docker.Options{Service: service, Nodes: 2, Image: image})
		},
		Put: putPostgres, Get: getPostgres, KeepsData: true, Moves: true, LastWords: true,
	})
}

func TestLogAndDescription(t *testing.T) {
	dir := t.TempDir()
	c := up(t, docker.Options{Service: redis.Service(), Nodes: 2, Image: dockertest.Redis(t), LogDir: dir})
	if d := c.Describe(); !strings.HasPrefix(d, "locktest.test/redis:") || !strings.Contains(d, "2 containers (Docker ") {
		t.Errorf("it is described as %q", d)
	}
	if names := ours(t); len(names) != 2 {
		t.Errorf("containers %v", names)
	}
	n := c.Nodes()[1]
	if err := n.(cluster.Killer).Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n.(cluster.Killer).Restart(t.Context(), cluster.Empty); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(n.(cluster.LogFile).LogFile())
	if err != nil || strings.Count(string(b), "Ready to accept connections") != 2 {
		t.Errorf("the log of two lives: %v\n%s", err, b)
	}
}

// A link leads to where its node is now, whatever port that has.
func TestLinksFollowANodeThatMoves(t *testing.T) {
	c := up(t, docker.Options{Service: redis.Service(), Nodes: 1, Image: dockertest.Redis(t)})
	net, err := proxy.New(proxy.Options{Clients: []string{"c1"}, Nodes: c.Nodes(), Rand: rand.New(rand.NewPCG(1, 2))})
	if err != nil {
		t.Fatal(err)
	}
	defer net.Close()
	n, link := c.Nodes()[0], net.Addr("c1", "n1")
	first, moved := n.Addr(), false
	for try := range 5 { // the engine may give the same port again
		if err := putRedis(t.Context(), link, "k", "v"); err != nil {
			t.Fatalf("try %d: %v", try, err)
		}
		if err := n.(cluster.Killer).Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := putRedis(t.Context(), link, "k", "v"); err == nil {
			t.Error("a dead node takes writes")
		}
		if err := n.(cluster.Killer).Restart(t.Context(), cluster.WithData); err != nil {
			t.Fatal(err)
		}
		if moved = n.Addr() != first; moved {
			break
		}
	}
	if !moved {
		t.Fatal("the port never changed: nothing was tested")
	}
	if err := putRedis(t.Context(), link, "k", "v"); err != nil {
		t.Errorf("after a move from %s to %s: %v", first, n.Addr(), err)
	}
}

func TestServersThatEnd(t *testing.T) {
	image := dockertest.Redis(t)
	service := redis.Service()
	command := service.Container.Command
	service.Container = &cluster.Container{Port: 6379, Command: func(c cluster.NodeConfig) (argv, env []string) {
		argv, env = command(c)
		return append(argv, "--no-such-setting", "x"), env
	}}
	err := newCluster(t, docker.Options{Service: service, Nodes: 1, Image: image}).Start(t.Context())
	says(t, err, cluster.CodeServerDied, "n1 did not become ready", "status 1", "no-such-setting")

	c := up(t, docker.Options{Service: redis.Service(), Nodes: 1, Image: image})
	n := c.Nodes()[0]
	if err := n.(cluster.Watched).Failed(); err != nil {
		t.Fatalf("a node that is well: %v", err)
	}
	conn := redisAt(n.Addr())
	defer conn.Close()
	conn.ShutdownNoSave(t.Context()) // its answer is the connection's end
	deadline := time.Now().Add(limit)
	for n.(cluster.Watched).Failed() == nil {
		if time.Now().After(deadline) {
			t.Fatal("nobody noticed that the server has ended")
		}
		time.Sleep(10 * time.Millisecond)
	}
	says(t, n.(cluster.Watched).Failed(), cluster.CodeServerDied, "n1 ended by itself", "status 0")
}

func TestImageThatIsNowhere(t *testing.T) {
	err := newCluster(t, docker.Options{Service: redis.Service(), Nodes: 1, Image: "127.0.0.1:9/nobody/redis:none"}).Start(t.Context())
	says(t, err, cluster.CodeNoImage, "image 127.0.0.1:9/nobody/redis:none isn't there")
}

// The process that the engine names is the server as this machine sees it, so that its clock can be reached.
func TestPid(t *testing.T) {
	c := up(t, docker.Options{Service: redis.Service(), Nodes: 1, Image: dockertest.Redis(t)})
	n := c.Nodes()[0]
	if err := n.(cluster.PidChecker).HasPid(); err != nil {
		t.Fatal(err)
	}
	pid := n.(cluster.Pidded).Pid()
	if b, err := os.ReadFile("/proc/" + itoa(pid) + "/comm"); err != nil || string(b) != "redis-server\n" {
		t.Errorf("pid %d is %q, %v", pid, b, err)
	}
	if err := n.(cluster.Killer).Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if pid := n.(cluster.Pidded).Pid(); pid != 0 {
		t.Errorf("a dead node has pid %d", pid)
	}
}
