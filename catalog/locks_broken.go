package catalog

import (
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/broken"
	"github.com/locktest/locktest/locks/postgres"
	"github.com/locktest/locktest/locks/redis"
	"github.com/locktest/locktest/locks/zookeeper"
)

// brokenLocks are wrong on purpose.
func brokenLocks() []Lock {
	return []Lock{
		wrong("adopts-node", "takes a node of its client's earlier session for its own", "mutual-exclusion", broken.NewAdoptsNode).on(zookeeper.Service, 1, 1, "zookeeper/ephemeral"),
		wrong("bare-del", "releases by DEL without comparing the owner", "mutual-exclusion", broken.NewBareDel),
		wrong("cancelled-waiter", "leaves a waiter behind that takes the lock for nobody", "liveness", broken.NewCancelledWaiter),
		wrong("client-clock", "compares the end of a lease with the client's clock", "mutual-exclusion", broken.NewClientClock),
		wrong("counter-expires", "a semaphore whose counter ends under its holders", "permits", broken.NewCounterExpires).like("redis/semaphore"),
		wrong("double-release", "a semaphore that is released as often as anybody says so", "permits", broken.NewDoubleRelease).like("redis/semaphore"),
		wrong("errors-are-busy", "calls every error of an acquire busy, and every one of a release a success", "liveness", broken.NewErrorsAreBusy),
		wrong("everyone", "sets the key without asking whether it is there", "mutual-exclusion", broken.NewEveryone),
		wrong("extend-recreates", "extends by SET, which makes an ended lease anew", "mutual-exclusion", broken.NewExtendRecreates),
		wrong("ignores-loss", "is told that it lost the lock, and goes on", "mutual-exclusion", broken.NewIgnoresLoss),
		wrong("incr-semaphore", "a semaphore by INCR whose TTL each try sets anew", "liveness", broken.NewINCRSemaphore).like("redis/semaphore"),
		wrong("lost-wakeup", "subscribes to releases after it has found the lock held, and never looks again", "liveness", broken.NewLostWakeup),
		wrong("never-released", "answers a release with success and does nothing", "liveness", broken.NewNeverReleased),
		wrong("nextval-before-wait", "draws the token before it waits for the lock", "fencing", broken.NewNextvalBeforeWait).on(postgres.Service, 1, 1, "postgres/advisory-xact"),
		wrong("no-ttl", "sets the key without a TTL", "liveness", broken.NewNoTTL),
		wrong("one-node-redlock", "one node, called a majority", "mutual-exclusion", broken.NewOneNodeRedlock).on(redis.Service, 3, 9, "redis/redlock").
			rightWith("{ quorum: 3 }"), // two of three are a majority that the loss of one node's data undoes, by a hazard of Redlock's own
		wrong("orphan-node", "takes a lost reply for a node that was not made", "liveness", broken.NewOrphanNode).on(zookeeper.Service, 1, 1, "zookeeper/ephemeral"),
		wrong("process-local", "a lock in the memory of each process", "mutual-exclusion", broken.NewProcessLocal),
		wrong("reader-frees", "a read-write lock that each reader's release deletes", "read-write", broken.NewReaderFrees).like("redis/rwlock"),
		wrong("redlock-elapsed", "counts Redlock's validity from the end of the acquire", "mutual-exclusion", broken.NewRedlockElapsed).on(redis.Service, 3, 9, "redis/redlock"),
		wrong("redlock-half", "Redlock that is content with half of the nodes", "mutual-exclusion", broken.NewRedlockHalf).on(redis.Service, 4, 8, "redis/redlock"),
		wrong("reentrant-count", "a re-entrant lock that its first release frees", "mutual-exclusion", broken.NewReentrantCount).like("redis/reentrant"),
		wrong("renewal-recreates", "renews in the background by SET, over another's lock", "mutual-exclusion", broken.NewRenewalRecreates),
		wrong("renews-after-release", "renews in the background for ever, whoever holds", "liveness", broken.NewRenewsAfterRelease),
		wrong("rw-standoff", "a reader and a writer that come together wait for each other", "liveness", broken.NewRWStandoff).like("redis/rwlock"),
		wrong("separate-incr", "counts the token in a command of its own after the grant", "fencing", broken.NewSeparateIncr),
		wrong("setnx-expire", "sets the key and its TTL in two commands", "liveness", broken.NewSetNXExpire),
		wrong("shared-owner", "compares an owner value that all clients of a host share", "mutual-exclusion", broken.NewSharedOwner),
		wrong("shared-token", "draws one owner value a client, which its threads share, and takes back what a refused try may have left", "mutual-exclusion", broken.NewSharedToken).threaded(),
		wrong("stale-renewal", "a grant that takes the renewal of an earlier one for its own", "mutual-exclusion", broken.NewStaleRenewal).rightWith("{ renew: 160ms }"),
		wrong("ttl-milliseconds", "seconds for milliseconds: the lease is a thousandth", "mutual-exclusion", broken.NewTTLMilliseconds),
		wrong("ttl-seconds", "milliseconds for seconds: the lease is a thousandfold", "liveness", broken.NewTTLSeconds),
		wrong("two-step-release", "compares the owner and deletes the key in two commands", "mutual-exclusion", broken.NewTwoStepRelease),
		wrong("unconditional-put", "puts the key under a lease without asking whether it is there", "mutual-exclusion", broken.NewUnconditionalPut).on(etcdService, 1, 1, "etcd/lease"),
		wrong("unlock-other-connection", "unlocks on another connection of its pool", "liveness", broken.NewUnlockOtherConnection).on(postgres.Service, 1, 1, "postgres/advisory"),
		wrong("waiter-lease-died", "takes its turn in the queue though its own lease has ended", "mutual-exclusion", broken.NewWaiterLeaseDied).on(etcdService, 1, 1, "etcd/lease"),
		wrong("xact-autocommit", "a transaction's lock without a transaction", "mutual-exclusion", broken.NewXactAutocommit).on(postgres.Service, 1, 1, "postgres/advisory"),
		wrong("zset-client-clock", "a semaphore by the clients' clocks", "permits", broken.NewZSetClientClock).like("redis/semaphore"),
	}
}

// wrong is a broken lock on one Redis, whose right counterpart is redis/single.
func wrong(name, about, caught string, new func() locks.Provider) Lock {
	return Lock{Name: "broken/" + name, About: about, New: plain(new), Extends: true, Caught: caught}.on(redis.Service, 1, 1, "redis/single")
}

// on is l on other servers, with another counterpart.
func (l Lock) on(service func() cluster.Service, least, most int, reference string) Lock {
	l.Service, l.Nodes, l.Min, l.Max, l.Reference = service, least, least, most, reference
	return l
}

// rightWith is l with options for its counterpart.
func (l Lock) rightWith(options string) Lock {
	l.RightWith = options
	return l
}

// like is l with another counterpart.
func (l Lock) like(reference string) Lock {
	l.Reference = reference
	return l
}
