package catalog

import (
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/etcdd"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/etcd"
)

func etcdLocks() []Lock {
	lease := etcdLock("lease", "a key created under a lease of its own, in whole seconds; token = create revision; waits by a watch", func(o etcd.Options) locks.Provider { return etcd.NewLease(o) })
	lease.Extends, lease.Options = true, append(lease.Options, "renew")
	return []Lock{
		etcdLock("cas", "no lock: everybody is let in, and the resource compares revisions; claims no exclusion", func(o etcd.Options) locks.Provider { return etcd.NewCAS(o) }),
		etcdLock("election", "Election of etcd's package concurrency, with a session for each acquire; token = the leader key's revision", func(o etcd.Options) locks.Provider { return etcd.NewElection(o) }),
		lease.threaded(),
		etcdLock("mutex", "Mutex of etcd's package concurrency, with a session for each acquire; token = create revision", func(o etcd.Options) locks.Provider { return etcd.NewMutex(o) }),
		etcdLock("rwlock", "a queue of readers' and writers' keys, each under a session; token = create revision", func(o etcd.Options) locks.Provider { return etcd.NewRWLock(o) }),
	}
}

func etcdLock(name, about string, new func(etcd.Options) locks.Provider) Lock {
	return Lock{Name: "etcd/" + name, About: about, New: with(etcd.ParseOptions, new), Options: etcd.OptionNames(), Service: etcdService, Nodes: 3, Min: 1, Max: 5}
}

func etcdService() cluster.Service { return etcd.Service(etcdd.Version) }
