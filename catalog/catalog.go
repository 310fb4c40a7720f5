// Package catalog is every name that a scenario can use, one line each, and what stands behind it. Validation, the list,
// the schema, the reference and the client's process all read it. Nobody but commands and tests imports it.
package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/locks"
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
	Threads bool // one client of it may be used by several threads at once
	// Of a broken lock:
	Caught    string // the property that catches it
	Reference string // the right lock for the same scenario
	RightWith string // options of that, as a scenario has them: "{ renew: 150ms }"; empty: none
}

// Broken says whether it is wrong on purpose.
func (l Lock) Broken() bool { return l.Caught != "" }

// Memory says whether it lives in this process.
func (l Lock) Memory() bool { return l.Service == nil }

// threaded is l, whose clients may each be used by several threads: they keep no state of a grant, and what they share is guarded.
func (l Lock) threaded() Lock {
	l.Threads = true
	return l
}

// Locks returns all entries, the right ones first, each part in order of names.
func Locks() []Lock {
	all := slices.Concat(etcdLocks(), memoryLocks(), postgresLocks(), redisLocks(), zookeeperLocks(), brokenLocks())
	for i, l := range all {
		all[i] = l.strict()
	}
	return all
}

// strict is l that refuses options which it doesn't know: those of one kind of server are read by one function for all strategies.
func (l Lock) strict() Lock {
	new := l.New
	l.New = func(options map[string]string) (locks.Provider, error) {
		for _, name := range slices.Sorted(maps.Keys(options)) {
			switch {
			case len(l.Options) == 0:
				return nil, fmt.Errorf("there is no option %s: it takes none", name)
			case !slices.Contains(l.Options, name):
				return nil, fmt.Errorf("there is no option %s: it takes %s", name, strings.Join(slices.Sorted(slices.Values(l.Options)), ", "))
			}
		}
		return new(options)
	}
	return l
}

// plain is for locks without options.
func plain(new func() locks.Provider) func(map[string]string) (locks.Provider, error) {
	return func(map[string]string) (locks.Provider, error) { return new(), nil }
}

// with is for locks with options that parse reads.
func with[O any](parse func(map[string]string) (O, error), new func(O) locks.Provider) func(map[string]string) (locks.Provider, error) {
	return func(options map[string]string) (locks.Provider, error) {
		o, err := parse(options)
		if err != nil {
			return nil, err
		}
		return new(o), nil
	}
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
		scenarios.Code{Code: CodePower, About: "a fault can't be brought about on this cluster, or with these clients"},
		scenarios.Code{Code: cluster.CodeNoEngine, About: "no container engine answers on this machine"},
		scenarios.Code{Code: cluster.CodeNoImage, About: "a container's image isn't there, and can't be had"},
		scenarios.Code{Code: cluster.CodeUnreachable, About: "a server that belongs to somebody else can't be reached"},
		scenarios.Code{Code: cluster.CodeAccess, About: "a password or a certificate that is named isn't there"},
		scenarios.Code{Code: CodeNoExec, About: "the scenario runs commands, and --no-exec refuses them"},
		scenarios.Code{Code: CodeAdapterLine, About: "a client printed a line that is no reply; it is kept and otherwise ignored"},
		scenarios.Code{Code: CodeAdapter, About: "a client broke the protocol or died outside any fault"},
		scenarios.Code{Code: CodeHistory, About: "a history can't be read"},
		scenarios.Code{Code: CodeBaseline, About: "a file of known violations can't be read, or an entry has no reason"},
		scenarios.Code{Code: CodeDisagreement, About: "the two engines of the checker disagree: a bug in locktest"},
	)
	return codes
}

// Codes of errors that have no better place.
const (
	CodePower        = runner.CodePower
	CodeNoExec       = "LT110"
	CodeAdapterLine  = "LT201"
	CodeAdapter      = "LT202"
	CodeHistory      = "LT301"
	CodeBaseline     = "LT302"
	CodeDisagreement = runner.CodeDisagreement
)
