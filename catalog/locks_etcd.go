package catalog

import (
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/etcdd"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/etcd"
)

func etcdLocks() []Lock {
	return []Lock{
		etcdLock("lease", "a key created under a lease of its own, in whole seconds; token = create revision; waits by a watch", func(o etcd.Options) locks.Provider { return etcd.NewLease(o) }),
	}
}

// etcdLock is one whose holder can extend.
func etcdLock(name, about string, new func(etcd.Options) locks.Provider) Lock {
	return Lock{Name: "etcd/" + name, About: about, New: with(etcd.ParseOptions, new), Options: etcd.OptionNames(), Service: etcdService, Nodes: 3, Min: 1, Max: 5, Extends: true}
}

func etcdService() cluster.Service { return etcd.Service(etcdd.Version) }
