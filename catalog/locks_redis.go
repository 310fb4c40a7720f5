package catalog

import (
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/redis"
)

func redisLocks() []Lock {
	redlock := redisLock("redlock", "majority of 3 to 9 independent Redis servers; no token", func(o redis.Options) locks.Provider { return redis.NewRedlock(o) }, "quorum")
	redlock.Nodes, redlock.Min, redlock.Max = 5, 3, 9
	replicated := redisLock("replicated", "a Redis primary and replicas: as redis/single, with WAIT for `wait` replicas (1); a grant that fewer acknowledged is undone", func(o redis.Options) locks.Provider { return redis.NewReplicated(o) })
	replicated.Options, replicated.Service, replicated.Nodes, replicated.Min, replicated.Max = redis.ReplicatedOptionNames(), redis.ReplicatedService, 3, 2, 5
	sentinel := redisLock("sentinel", "a Redis primary, replicas and three Sentinels, the last nodes: as redis/single, with WAIT for `wait` replicas (0)", func(o redis.Options) locks.Provider { return redis.NewSentinel(o) })
	sentinel.Options, sentinel.Service, sentinel.Nodes, sentinel.Min, sentinel.Max = redis.ReplicatedOptionNames(), redis.SentinelService, 6, 5, 8
	return []Lock{
		redisLock("fair", "one Redis server: a queue of waiters, dead ones taken out after `patience` (500 ms)", redis.NewFair, "patience", "renew").threaded(),
		redlock.threaded(),
		redisLock("reentrant", "one Redis server: its holder may take it `limit` times (3); a hash with a field for each acquire", redis.NewReentrant, "limit"),
		replicated,
		redisLock("rwlock", "one Redis server: readers in a sorted set by the ends of their leases, a writer alone", redis.NewRWLock, "renew").threaded(),
		redisLock("semaphore", "one Redis server: leases on `limit` permits (3), in a sorted set by the server's clock", redis.NewSemaphore, "limit", "renew").threaded(),
		sentinel,
		redisLock("single", "one Redis server: SET NX PX, compare-and-delete, token", redis.NewSingle, "renew").threaded(),
	}
}

// redisLock is one on one server, whose holder can extend.
func redisLock(name, about string, new func(redis.Options) locks.Provider, options ...string) Lock {
	return Lock{Name: "redis/" + name, About: about, New: with(redis.ParseOptions, new), Options: append(options, redis.OptionNames()...), Service: redis.Service, Nodes: 1, Min: 1, Max: 1, Extends: true}
}
