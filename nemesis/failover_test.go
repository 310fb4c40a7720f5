package nemesis_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/locks/postgres"
	"github.com/locktest/locktest/locks/redis"
	"github.com/locktest/locktest/nemesis"
)

// A replica of Redis that is promoted takes writes beside the old primary, which knows nothing; healing makes that its replica.
func TestFailoverOfRedis(t *testing.T) {
	b := newServers(t, redis.ReplicatedService(), 3)
	b.leaders("n1")
	i := b.inject(nemesis.NewFailover(target("n2"), false))
	if !strings.Contains(i.Text, "fail over to n2; nobody tells n1") {
		t.Errorf("it says %q", i.Text)
	}
	b.leaders("n1", "n2")
	b.followers("n3")
	check(t, b.direct(0).Set(b.ctx, "k", "old", 0).Err())
	check(t, b.direct(1).Set(b.ctx, "k", "new", 0).Err())
	b.healThrice(i)
	b.leaders("n2")
	b.followers("n1", "n3")
	for n := range b.env.Nodes {
		b.eventually("every server has what the new primary has", func() bool { return b.direct(n).Get(b.ctx, "k").Val() == "new" })
	}
}

// An old primary that is dead when the fault ends is left to whoever killed it.
func TestFailoverFromADeadPrimary(t *testing.T) {
	b := newServers(t, redis.ReplicatedService(), 2)
	kill := b.inject(nemesis.NewKill(nemesis.KillSpec{Of: target("n1"), Stays: true}))
	i := b.inject(nemesis.NewFailover(target(nemesis.Replica), false))
	if strings.Contains(i.Text, "nobody tells") {
		t.Errorf("it says %q", i.Text)
	}
	b.leaders("n2")
	check(t, b.client("c1", "n2").Set(b.ctx, "k", "1", 0).Err())
	b.healThrice(i)
	check(t, kill.Heal(b.ctx))
	b.leaders("n2")
}

// A failover to a node that is down is one that didn't apply.
func TestFailoverToADeadReplica(t *testing.T) {
	b := newServers(t, redis.ReplicatedService(), 2)
	check(t, b.env.Nodes[1].(cluster.Killer).Kill(b.ctx))
	if _, err := nemesis.NewFailover(target("n2"), false).Inject(b.ctx, b.env); !errors.Is(err, nemesis.ErrNoTarget) {
		t.Errorf("Inject() = %v", err)
	}
	b.leaders("n1")
}

// PostgreSQL grants an advisory lock on the promoted replica while its old primary has it; healing restarts that as a replica.
func TestFailoverOfPostgres(t *testing.T) {
	b := newServers(t, postgres.Service(), 2)
	b.leaders("n1")
	old, _ := b.postgres(0)
	if !locked(b.ctx, old) {
		t.Fatal("the primary didn't grant the lock")
	}
	i := b.inject(nemesis.NewFailover(nemesis.Target{}, false))
	b.leaders("n1", "n2")
	promoted, _ := b.postgres(1)
	if !locked(b.ctx, promoted) {
		t.Error("the promoted replica didn't grant the lock")
	}
	if err := old.Ping(b.ctx); err != nil {
		t.Errorf("the old primary: %v", err)
	}
	b.healThrice(i)
	b.leaders("n2")
	b.followers("n1")
	if _, err := promoted.Exec(b.ctx, "CREATE TABLE after_it AS SELECT 1"); err != nil {
		t.Fatal(err)
	}
	b.eventually("the old primary has what is written to the new one", func() bool {
		conn, err := b.postgres(0)
		if err != nil {
			return false
		}
		_, err = conn.Exec(b.ctx, "SELECT * FROM after_it")
		return err == nil
	})
}

// Without a time nobody ever tells the old primary.
func TestFailoverThatStays(t *testing.T) {
	b := newServers(t, postgres.Service(), 2)
	i := b.inject(nemesis.NewFailover(target("n2"), true))
	b.healThrice(i)
	b.leaders("n1", "n2")
}

func TestFailoverIsRefusedWhereNobodyLeads(t *testing.T) {
	b := newServers(t, redis.Service(), 1)
	if err := nemesis.NewFailover(nemesis.Target{}, false).Check(b.env); err == nil || !strings.Contains(err.Error(), "redis has no leader") {
		t.Errorf("Check() = %v", err)
	}
}

// postgres is a connection past every link, closed at the test's end.
func (b *bench) postgres(i int) (*pgx.Conn, error) {
	conn, err := pgx.Connect(b.ctx, "postgres://postgres@"+b.env.Nodes[i].Addr()+"/postgres?sslmode=disable")
	if err == nil {
		b.t.Cleanup(func() { conn.Close(context.Background()) })
	}
	return conn, err
}

// locked says whether the server grants the lock.
func locked(ctx context.Context, conn *pgx.Conn) bool {
	var yes bool
	err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(1)").Scan(&yes)
	return err == nil && yes
}
