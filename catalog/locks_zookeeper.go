package catalog

import (
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/zookeeper"
)

func zookeeperLocks() []Lock {
	return []Lock{
		zookeeperLock("ephemeral", "ephemeral sequential nodes, held by the first as long as its session lives; token = czxid; waits by a watch", func(o zookeeper.Options) locks.Provider { return zookeeper.NewEphemeral(o) }),
		zookeeperLock("library", "the Lock of go-zookeeper, with a session for each acquire; token = czxid", func(o zookeeper.Options) locks.Provider { return zookeeper.NewLibrary(o) }),
		zookeeperLock("rwlock", "as zookeeper/ephemeral, where readers wait for writers alone", func(o zookeeper.Options) locks.Provider { return zookeeper.NewRWLock(o) }),
		zookeeperLock("semaphore", "as zookeeper/ephemeral, held by the first that `limit` permits (3) are enough for", func(o zookeeper.Options) locks.Provider { return zookeeper.NewSemaphore(o) }, "limit"),
	}
}

func zookeeperLock(name, about string, new func(zookeeper.Options) locks.Provider, options ...string) Lock {
	return Lock{Name: "zookeeper/" + name, About: about, New: with(zookeeper.ParseOptions, new), Options: append(options, zookeeper.OptionNames()...), Service: zookeeper.Service, Nodes: 3, Min: 1, Max: 5}
}
