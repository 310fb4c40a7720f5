// Package catalog is every name that a scenario can use, one line each, and what stands behind it. Validation, the list,
// the schema, the reference and the client's process all read it. Nobody but commands and tests imports it.
package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/etcdd"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/broken"
	"github.com/locktest/locktest/locks/etcd"
	"github.com/locktest/locktest/locks/memory"
	"github.com/locktest/locktest/locks/postgres"
	"github.com/locktest/locktest/locks/redis"
	"github.com/locktest/locktest/locks/zookeeper"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// Lock is an entry of the catalogue: PROVIDER/STRATEGY.
type Lock struct {
	Name    string
	About   string
	New     func(options map[string]string) (locks.Provider, error)
	Options []string               // names under lock.options
	Service func() cluster.Service // nil: it lives in this process
	Nodes   int                    // by default
	Min     int                    // nodes; 0: any
	Max     int
	Extends bool
	// Of a broken lock:
	Caught    string // the property that catches it
	Reference string // the right lock for the same scenario
}

// Broken says whether it is wrong on purpose.
func (l Lock) Broken() bool { return l.Caught != "" }

// Memory says whether it lives in this process.
func (l Lock) Memory() bool { return l.Service == nil }

// Locks returns all entries, the right ones first, each part in order of names.
func Locks() []Lock {
	return []Lock{
		{Name: "etcd/lease", About: "a key created under a lease of its own, in whole seconds; token = create revision; waits by a watch", New: etcdLease,
			Options: etcd.OptionNames(), Service: etcdService, Nodes: 3, Min: 1, Max: 5, Extends: true},
		{Name: "memory/lease", About: "in this process: exact TTL, tokens, loss told; not distributed", New: plain(func() locks.Provider { return memory.NewLease() }), Extends: true},
		{Name: "memory/mutex", About: "in this process: no TTL, tokens; not distributed", New: plain(func() locks.Provider { return memory.NewMutex() })},
		{Name: "postgres/advisory", About: "session-level advisory locks of PostgreSQL: held as long as the connection; waits at the server; no token", New: advisory,
			Options: postgres.OptionNames(), Service: postgres.Service, Nodes: 1, Min: 1, Max: 5},
		{Name: "redis/redlock", About: "majority of 3 to 9 independent Redis servers; no token", New: redisLock(func(o redis.Options) locks.Provider { return redis.NewRedlock(o) }),
			Options: redis.OptionNames(), Service: redis.Service, Nodes: 5, Min: 3, Max: 9, Extends: true},
		{Name: "redis/replicated", About: "a Redis primary and replicas: as redis/single, with WAIT for `wait` replicas (1); a grant that fewer acknowledged is undone", New: redisLock(func(o redis.Options) locks.Provider { return redis.NewReplicated(o) }),
			Options: redis.ReplicatedOptionNames(), Service: redis.ReplicatedService, Nodes: 3, Min: 2, Max: 5, Extends: true},
		{Name: "redis/sentinel", About: "a Redis primary, replicas and three Sentinels, the last nodes: as redis/single, with WAIT for `wait` replicas (0)", New: redisLock(func(o redis.Options) locks.Provider { return redis.NewSentinel(o) }),
			Options: redis.ReplicatedOptionNames(), Service: redis.SentinelService, Nodes: 6, Min: 5, Max: 8, Extends: true},
		{Name: "redis/single", About: "one Redis server: SET NX PX, compare-and-delete, token", New: redisLock(func(o redis.Options) locks.Provider { return redis.NewSingle(o) }),
			Options: redis.OptionNames(), Service: redis.Service, Nodes: 1, Min: 1, Max: 1, Extends: true},
		{Name: "zookeeper/ephemeral", About: "ephemeral sequential nodes, held by the first as long as its session lives; token = czxid; waits by a watch", New: zookeeperEphemeral,
			Options: zookeeper.OptionNames(), Service: zookeeper.Service, Nodes: 3, Min: 1, Max: 5},

		wrong("bare-del", "releases by DEL without comparing the owner", "mutual-exclusion", broken.NewBareDel),
		wrong("everyone", "sets the key without asking whether it is there", "mutual-exclusion", broken.NewEveryone),
		wrong("extend-recreates", "extends by SET, which makes an ended lease anew", "mutual-exclusion", broken.NewExtendRecreates),
		wrong("never-released", "answers a release with success and does nothing", "liveness", broken.NewNeverReleased),
		wrongOn(3, "redlock-elapsed", "counts Redlock's validity from the end of the acquire", "mutual-exclusion", "redis/redlock", broken.NewRedlockElapsed),
		wrong("separate-incr", "counts the token in a command of its own after the grant", "fencing", broken.NewSeparateIncr),
		wrong("setnx-expire", "sets the key and its TTL in two commands", "liveness", broken.NewSetNXExpire),
		wrong("shared-owner", "compares an owner value that all clients of a host share", "mutual-exclusion", broken.NewSharedOwner),
	}
}

func wrong(name, about, caught string, new func() locks.Provider) Lock {
	l := wrongOn(1, name, about, caught, "redis/single", new)
	l.Max = 1
	return l
}

func wrongOn(nodes int, name, about, caught, reference string, new func() locks.Provider) Lock {
	return Lock{Name: "broken/" + name, About: about, New: plain(new), Service: redis.Service, Nodes: nodes, Min: nodes, Extends: true, Caught: caught, Reference: reference}
}

// plain is for locks without options.
func plain(new func() locks.Provider) func(map[string]string) (locks.Provider, error) {
	return func(options map[string]string) (locks.Provider, error) {
		if len(options) > 0 {
			return nil, fmt.Errorf("it takes no options, got %s", strings.Join(slices.Sorted(maps.Keys(options)), ", "))
		}
		return new(), nil
	}
}

func etcdService() cluster.Service { return etcd.Service(etcdd.Version) }

func etcdLease(options map[string]string) (locks.Provider, error) {
	o, err := etcd.ParseOptions(options)
	if err != nil {
		return nil, err
	}
	return etcd.NewLease(o), nil
}

func zookeeperEphemeral(options map[string]string) (locks.Provider, error) {
	o, err := zookeeper.ParseOptions(options)
	if err != nil {
		return nil, err
	}
	return zookeeper.NewEphemeral(o), nil
}

func redisLock(new func(redis.Options) locks.Provider) func(map[string]string) (locks.Provider, error) {
	return func(options map[string]string) (locks.Provider, error) {
		o, err := redis.ParseOptions(options)
		if err != nil {
			return nil, err
		}
		return new(o), nil
	}
}

func advisory(options map[string]string) (locks.Provider, error) {
	o, err := postgres.ParseOptions(options)
	if err != nil {
		return nil, err
	}
	return postgres.NewAdvisory(o), nil
}

// Find returns the lock of that name.
func Find(name string) (Lock, bool) {
	for _, l := range Locks() {
		if l.Name == name {
			return l, true
		}
	}
	return Lock{}, false
}

// Codes returns every error code of the program with its meaning, in order.
func Codes() []scenarios.Code {
	codes := append(slices.Clone(scenarios.Codes()),
		scenarios.Code{Code: cluster.CodeNoBinary, About: "a server's program was not found"},
		scenarios.Code{Code: cluster.CodePortInUse, About: "the port that a scenario fixes is taken"},
		scenarios.Code{Code: cluster.CodeServerDied, About: "a server ended, or didn't answer in time"},
		scenarios.Code{Code: cluster.CodeUnhostable, About: "this kind of cluster can't run this server"},
		scenarios.Code{Code: CodeAdapterLine, About: "a client printed a line that is no reply; it is kept and otherwise ignored"},
		scenarios.Code{Code: CodeAdapter, About: "a client broke the protocol or died outside any fault"},
		scenarios.Code{Code: CodePower, About: "a fault can't be brought about on this cluster, or with these clients"},
		scenarios.Code{Code: CodeHistory, About: "a history can't be read"},
		scenarios.Code{Code: CodeDisagreement, About: "the two engines of the checker disagree: a bug in locktest"},
	)
	return codes
}

// Codes of errors that have no better place.
const (
	CodePower        = runner.CodePower
	CodeAdapterLine  = "LT201"
	CodeAdapter      = "LT202"
	CodeHistory      = "LT301"
	CodeDisagreement = "LT901"
)
