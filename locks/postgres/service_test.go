package postgres_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/locks/postgres"
)

func put(ctx context.Context, addr, key, value string) error {
	_, err := query(ctx, addr, "CREATE TABLE IF NOT EXISTS kept (k text PRIMARY KEY, v text); INSERT INTO kept VALUES ('"+key+"', '"+value+"') ON CONFLICT (k) DO UPDATE SET v = excluded.v")
	return err
}

const noTable = "42P01"

func get(ctx context.Context, addr, key string) (string, bool, error) {
	v, err := query(ctx, addr, "SELECT v FROM kept WHERE k = '"+key+"'")
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == noTable {
		return "", false, nil
	}
	return v, err == nil && v != "", err
}

func TestVersion(t *testing.T) {
	path, err := process.Find(postgres.Service())
	if err != nil {
		t.Fatalf("%v; make deps installs it", err)
	}
	v, err := postgres.Service().Version(t.Context(), path)
	if err != nil || !strings.HasPrefix(v, "postgres 1") {
		t.Errorf("Version() = %q, %v", v, err)
	}
	if _, err := postgres.Service().Version(t.Context(), "/bin/true"); err == nil {
		t.Error("a program that isn't PostgreSQL has a version")
	}
	old := filepath.Join(t.TempDir(), "postgres")
	if err := os.WriteFile(old, []byte("#!/bin/sh\necho 'postgres (PostgreSQL) 9.6.24'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Service().Version(t.Context(), old); err == nil || !strings.Contains(err.Error(), "9.6.24") {
		t.Errorf("an old server: %v", err)
	}
}

// segments are the System V blocks of shared memory of this machine that have these numbers.
func segments(t *testing.T, ids map[string]bool) (found []string) {
	t.Helper()
	b, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(b), "\n") {
		if f := strings.Fields(line); len(f) > 1 && ids[f[1]] {
			found = append(found, f[1])
		}
	}
	return found
}

func shmOf(t *testing.T, pidFile string) string {
	t.Helper()
	b, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(strings.Split(string(b), "\n")[6])
	return f[len(f)-1]
}

func TestKilledServersLeaveNoSharedMemory(t *testing.T) {
	c := start(t, process.Options{})
	n := c.Nodes()[0]
	pid := n.(cluster.Pidded).Pid()
	dir, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for range 2 {
		ids[shmOf(t, filepath.Join(dir, "postmaster.pid"))] = true
		if len(segments(t, ids)) == 0 {
			t.Fatalf("a running server has no shared memory of %v", ids)
		}
		if err := n.(cluster.Killer).Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := n.(cluster.Killer).Restart(t.Context(), cluster.WithData); err != nil {
			t.Fatal(err)
		}
	}
	ids[shmOf(t, filepath.Join(dir, "postmaster.pid"))] = true
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if left := segments(t, ids); len(left) != 0 {
		t.Errorf("blocks %v are left", left)
	}
}

// The sessions of a server are processes with groups of their own: a pause has to find them.
func TestPauseStopsOpenSessions(t *testing.T) {
	c := start(t, process.Options{})
	n := c.Nodes()[0]
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	conn, err := pgconn.Connect(ctx, "postgres://postgres@"+n.Addr()+"/postgres?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := n.(cluster.Pauser).Pause(ctx); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := conn.Exec(ctx, "SELECT 1").ReadAll()
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Errorf("an open session answered during the pause: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	if err := n.(cluster.Pauser).Resume(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Errorf("after the pause: %v", err)
	}
}

// A holder is told when the server dies, and the lock is free on the one that comes back.
func TestLossIsToldWhenTheServerDies(t *testing.T) {
	c := start(t, process.Options{})
	n := c.Nodes()[0]
	l := acquire(t, client(t, "c1", n.Addr()))
	if err := n.(cluster.Killer).Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-l.Lost():
	case <-time.After(limit):
		t.Fatal("the loss was never told")
	}
	if err := n.(cluster.Killer).Restart(t.Context(), cluster.WithData); err != nil {
		t.Fatal(err)
	}
	acquire(t, client(t, "c2", n.Addr()))
}
