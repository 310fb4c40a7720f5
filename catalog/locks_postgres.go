package catalog

import (
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/postgres"
)

func postgresLocks() []Lock {
	lease := postgresLock("lease", "a row with owner, token and end by the server's clock, taken by one conditional statement", func(o postgres.Options) locks.Provider { return postgres.NewLease(o) })
	lease.Extends, lease.Options = true, append(lease.Options, "renew")
	return []Lock{
		postgresLock("advisory", "session-level advisory locks of PostgreSQL: held as long as the connection; waits at the server; no token", func(o postgres.Options) locks.Provider { return postgres.NewAdvisory(o) }),
		postgresLock("advisory-shared", "postgres/advisory with a shared mode", func(o postgres.Options) locks.Provider { return postgres.NewAdvisoryShared(o) }),
		postgresLock("advisory-xact", "a transaction-level advisory lock, held by an open transaction; token = a sequence's next value", func(o postgres.Options) locks.Provider { return postgres.NewAdvisoryXact(o) }),
		lease,
		postgresLock("optimistic", "no lock: everybody is let in, and the resource compares versions; claims no exclusion", func(o postgres.Options) locks.Provider { return postgres.NewOptimistic(o) }),
		postgresLock("row", "SELECT … FOR UPDATE, held by an open transaction; a try is NOWAIT, or SKIP LOCKED by the option `try`", func(o postgres.Options) locks.Provider { return postgres.NewRow(o) }, "try"),
	}
}

func postgresLock(name, about string, new func(postgres.Options) locks.Provider, options ...string) Lock {
	return Lock{Name: "postgres/" + name, About: about, New: with(postgres.ParseOptions, new), Options: append(options, postgres.OptionNames()...), Service: postgres.Service, Nodes: 1, Min: 1, Max: 5}
}
