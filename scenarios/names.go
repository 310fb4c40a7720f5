package scenarios

import (
	"maps"
	"slices"
)

// Names is every name that a scenario can use, with what has to be known of each to judge a file. The catalogue fills
// it; a name that isn't in it is refused with the list of those that are.
type Names struct {
	Locks      map[string]LockName // by PROVIDER/STRATEGY
	Workloads  map[string]WorkloadName
	Faults     map[string]FaultName    // by kind
	Properties map[string]PropertyName // by property id
	Clusters   map[string]ClusterName  // by kind
	Resources  map[string]string       // what a resource does with a token → in a sentence
	Stores     map[string]string       // where the resource lives → in a sentence
	Metrics    map[string]MetricName   // by name, such as acquire.p99
}

// LockName is what has to be known of a lock.
type LockName struct {
	About         string
	Options       map[string]OptionName // of the strategy
	ClientOptions map[string]OptionName // that one client may have otherwise
	ServerOptions map[string]OptionName // keys of cluster
	Memory        bool                  // lives in this process and has no servers
	SharedOnly    bool                  // its clients share this process
	Tokens        bool                  // its grants carry fencing tokens
	Leases        bool                  // a grant ends by itself after the TTL
	Extends       bool                  // the holder can extend
	KeptAlive     bool                  // a grant is a session's, which the lock's library keeps alive in the background
	SharedMode    bool                  // mode: shared
	Permits       bool                  // is a semaphore
	Reentrant     bool                  // its holder can take it again
	Command       bool                  // takes command and server, as exec does
	Nodes         int                   // by default
	MinNodes      int                   // 0: any
	MaxNodes      int                   // 0: any
}

// OptionName is an option of a lock, a client or a server.
type OptionName struct {
	About  string
	Values []string // the only ones; nil: any text
}

// WorkloadName is what has to be known of a workload.
type WorkloadName struct{ About string }

// FaultName is what has to be known of a kind of fault.
type FaultName struct {
	About     string
	Args      []string // keys of its mapping form, of those in Arguments
	Required  []string // of these
	Targets   []string // words that it can be aimed at: those of Targets
	Kinds     bool     // its "of" lists other kinds
	Groups    bool     // takes sides, as a partition does: [[n1, n2], [n3, clients]]
	Process   bool     // acts on the process of a client or a node
	Shared    bool     // with Process: can act on clients that share a process, between their steps
	Network   bool     // needs links: not for locks in memory
	NeedsFor  bool     // for is required
	TakesFor  bool     // for is allowed; implied by NeedsFor
	StopsTime bool     // its target stands still and goes on afterwards, as in a pause
	Example   string   // of an entry, for the reference
}

// PropertyName is what has to be known of a property.
type PropertyName struct {
	About       string
	Kinds       []string // that expect may name as property/kind
	Bounds      []string // keys of its expectation, of recover-within, min and during
	NeedsTokens bool     // applies to locks with fencing tokens only
}

// ClusterName is what has to be known of a kind of cluster.
type ClusterName struct {
	About string
	Keys  []string // that it takes of version, image, endpoints and allow-faults
}

// MetricName is what has to be known of a metric.
type MetricName struct {
	About string
	Share bool // a percentage, bound by min; else, unless Rate, a duration, bound by max
	Rate  bool // a number a second, bound by min
}

// bound is the key that bounds the metric.
func (m MetricName) bound() string {
	if m.Share || m.Rate {
		return "min"
	}
	return "max"
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// serverOptions are those of the lock; of a portable scenario, those of every lock.
func (n Names) serverOptions(lock string) map[string]OptionName {
	if l, ok := n.Locks[lock]; ok {
		return l.ServerOptions
	}
	out := map[string]OptionName{}
	for _, name := range keys(n.Locks) {
		maps.Copy(out, n.Locks[name].ServerOptions)
	}
	return out
}
