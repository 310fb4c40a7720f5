package postgres_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/lockstest"
	"github.com/locktest/locktest/locks/postgres"
)

const limit = 60 * time.Second

func start(t *testing.T, o process.Options) *process.Cluster {
	t.Helper()
	o.Service, o.Spawner = postgres.Service(), clustertest.Spawner(t)
	c, err := process.New(o)
	if err != nil {
		t.Fatalf("%v; make deps installs it", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func query(ctx context.Context, addr, sql string) (string, error) {
	conn, err := pgconn.Connect(ctx, "postgres://postgres@"+addr+"/postgres?sslmode=disable")
	if err != nil {
		return "", err
	}
	defer conn.Close(context.Background())
	results, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		return "", err
	}
	last := results[len(results)-1]
	if len(last.Rows) == 0 {
		return "", nil
	}
	return string(last.Rows[0][0]), nil
}

// free ends every session but its own, and returns once none is left.
func free(t *testing.T, addr string) {
	t.Helper()
	const sql = "SELECT count(pg_terminate_backend(pid, 20000)) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
	if _, err := query(t.Context(), addr, sql); err != nil {
		t.Fatal(err)
	}
}

// One server serves all tests of the kit; sessions that an earlier one left are ended.
func TestConformance(t *testing.T) {
	c := start(t, process.Options{})
	addr := c.Nodes()[0].Addr()
	o := postgres.Options{}
	for name, p := range map[string]locks.Provider{
		"advisory": postgres.NewAdvisory(o), "advisory-shared": postgres.NewAdvisoryShared(o), "advisory-xact": postgres.NewAdvisoryXact(o),
		"row": postgres.NewRow(o), "row skip-locked": postgres.NewRow(postgres.Options{SkipLocked: true}), "lease": postgres.NewLease(o), "optimistic": postgres.NewOptimistic(o),
		"lease, renewed": postgres.NewLease(postgres.Options{Renew: 75 * time.Millisecond}),
	} {
		n := 0
		t.Run(name, func(t *testing.T) {
			lockstest.Run(t, func(t *testing.T) lockstest.Kit {
				free(t, addr)
				n++
				return lockstest.Kit{Provider: p, Addrs: []string{addr}, TTL: 300 * time.Millisecond, Prefix: fmt.Sprintf("%s-%d-", name, n)}
			})
		})
	}
}

func client(t *testing.T, name string, addrs ...string) locks.Client {
	t.Helper()
	c, err := postgres.NewAdvisory(postgres.Options{}).Open(t.Context(), locks.Target{Client: name, Addrs: addrs, Rand: rand.New(rand.NewPCG(1, uint64(len(name)+int(name[1])))), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func acquire(t *testing.T, c locks.Client) locks.Lock {
	t.Helper()
	l, err := c.Acquire(t.Context(), request())
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	return l
}

func request() locks.Request { return locks.Request{Name: "orders"} }
