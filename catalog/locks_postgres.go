package catalog

import (
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/postgres"
)

func postgresLocks() []Lock {
	return []Lock{
		postgresLock("advisory", "session-level advisory locks of PostgreSQL: held as long as the connection; waits at the server; no token", func(o postgres.Options) locks.Provider { return postgres.NewAdvisory(o) }),
	}
}

func postgresLock(name, about string, new func(postgres.Options) locks.Provider) Lock {
	return Lock{Name: "postgres/" + name, About: about, New: with(postgres.ParseOptions, new), Options: postgres.OptionNames(), Service: postgres.Service, Nodes: 1, Min: 1, Max: 5}
}
