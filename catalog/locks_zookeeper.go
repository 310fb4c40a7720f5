package catalog

import (
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/zookeeper"
)

func zookeeperLocks() []Lock {
	return []Lock{
		zookeeperLock("ephemeral", "ephemeral sequential nodes, held by the first as long as its session lives; token = czxid; waits by a watch", func(o zookeeper.Options) locks.Provider { return zookeeper.NewEphemeral(o) }),
	}
}

func zookeeperLock(name, about string, new func(zookeeper.Options) locks.Provider) Lock {
	return Lock{Name: "zookeeper/" + name, About: about, New: with(zookeeper.ParseOptions, new), Options: zookeeper.OptionNames(), Service: zookeeper.Service, Nodes: 3, Min: 1, Max: 5}
}
