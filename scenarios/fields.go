package scenarios

import (
	"slices"
	"strings"
)

// Syntax is how a value is written.
type Syntax string

// The ways in which values are written.
const (
	Text     Syntax = "text"
	Texts    Syntax = "list of text"
	Duration Syntax = "duration"       // 200ms
	Span     Syntax = "duration range" // 50ms..400ms, or one duration
	Count    Syntax = "count"
	Percent  Syntax = "percentage"
	Number   Syntax = "number"
	Flag     Syntax = "true or false"
	Slot     Syntax = "mapping"
	Slots    Syntax = "list of mappings"
	Signed   Syntax = "duration with a sign" // +20s, -20s
	Factor   Syntax = "factor"               // 1.5
	Bytes    Syntax = "bytes a second"       // 10kB/s
)

// article is the syntax as a word in a sentence.
func (s Syntax) article() string {
	if s == Bytes {
		return "a number of bytes a second"
	}
	if s == Text || s == Flag {
		return string(s)
	}
	return "a " + string(s)
}

// Field is a key of a scenario file. The decoder, the JSON Schema and the reference all read the same table.
type Field struct {
	Path     string // workload.hold; faults[].at
	Syntax   Syntax
	Required bool
	Default  string // as it would be written; "lock.ttl + 2s" depends on another; "": none
	Min      int    // of a count
	Max      int    // of a count; 0: only the run bounds it
	Values   []string
	About    string
}

// Key is the last part of the path.
func (f Field) Key() string { return f.Path[strings.LastIndex(f.Path, ".")+1:] }

// anyKind stands in a path for a kind of fault, a property or a metric.
const anyKind = "*"

func events() []string   { return []string{"acquired", "waiting", "extending", "releasing"} }
func verdicts() []string { return []string{"held", "violated", "any"} }
func periods() []string  { return []string{"calm", "faults", "all"} }

// Fields lists every key, in the order in which a resolved scenario has them. The kinds of faults and the names of
// properties and metrics are keys too; Names has those.
func Fields() []Field {
	all := fields()
	at := slices.IndexFunc(all, func(f Field) bool { return f.Path == "expect" })
	return slices.Insert(all, at, append(messageFields(), execFields()...)...)
}

func fields() []Field {
	return []Field{
		{Path: "version", Syntax: Count, Required: true, Min: 1, About: "version of the format: 1"},
		{Path: "name", Syntax: Text, Required: true, About: "lower-case letters, digits and dashes"},
		{Path: "about", Syntax: Text, About: "the question, in a sentence"},
		{Path: "tags", Syntax: Texts, About: "words to find it by"},
		{Path: "lock", Syntax: Slot, About: "what is tested"},
		{Path: "lock.use", Syntax: Text, About: "PROVIDER/STRATEGY; left out in a portable scenario"},
		{Path: "lock.ttl", Syntax: Duration, Default: "2s", About: "how long a lease is asked for"},
		{Path: "lock.mode", Syntax: Text, Default: "exclusive", Values: []string{"exclusive", "shared"}, About: "of each acquire"},
		{Path: "lock.permits", Syntax: Count, Min: 1, About: "of a semaphore"},
		{Path: "lock.options", Syntax: Slot, About: "options of the strategy"},
		{Path: "lock.command", Syntax: Texts, About: "program and arguments of an adapter"},
		{Path: "lock.server", Syntax: Text, About: "which server an adapter needs"},
		{Path: "cluster", Syntax: Slot, About: "what it runs on"},
		{Path: "cluster.kind", Syntax: Text, Default: "auto", About: "how servers are hosted"},
		{Path: "cluster.nodes", Syntax: Count, Min: 1, Max: 100, About: "how many servers; the lock's own number unless said otherwise"},
		{Path: "cluster.version", Syntax: Text, About: "of the server"},
		{Path: "cluster.image", Syntax: Text, About: "of the container"},
		{Path: "cluster.endpoints", Syntax: Texts, About: "HOST:PORT of servers that stand already"},
		{Path: "cluster.allow-faults", Syntax: Flag, About: "whether such servers may be harmed"},
		{Path: "cluster.user", Syntax: Text, About: "who enters such servers"},
		{Path: "cluster.password-env", Syntax: Text, About: "the variable of the environment that has the password"},
		{Path: "cluster.password-file", Syntax: Text, About: "the file that has the password, one line"},
		{Path: "cluster.tls", Syntax: Flag, About: "whether such servers speak TLS; implied by the files below"},
		{Path: "cluster.tls-ca", Syntax: Text, About: "PEM file of who signed their certificates; the system's list unless said otherwise"},
		{Path: "cluster.tls-cert", Syntax: Text, About: "PEM file of the clients' own certificate"},
		{Path: "cluster.tls-key", Syntax: Text, About: "PEM file of its key"},
		{Path: "clients", Syntax: Slot, About: "who uses locks"},
		{Path: "clients.count", Syntax: Count, Default: "4", Min: 1, Max: 1000, About: "how many"},
		{Path: "clients.process", Syntax: Text, Values: []string{"separate", "shared"}, About: "an OS process each, or this one for all; the lock's own way unless said otherwise"},
		{Path: "clients.threads", Syntax: Count, Default: "1", Min: 1, Max: 1000, About: "per client, which they share"},
		{Path: "clients.options", Syntax: Slot, About: "options of single clients: {c1: {OPTION: VALUE}}"},
		{Path: "workload", Syntax: Slot, About: "what clients do meanwhile"},
		{Path: "workload.use", Syntax: Text, Default: "mutex", About: "which workload"},
		{Path: "workload.locks", Syntax: Count, Default: "1", Min: 1, Max: 10000, About: "how many lock names"},
		{Path: "workload.hold", Syntax: Span, Default: "10ms..50ms", About: "how long a lock is kept"},
		{Path: "workload.think", Syntax: Span, Default: "0s", About: "pause between release and the next acquire"},
		{Path: "workload.wait", Syntax: Duration, Default: "1s", About: "how long an acquire may block; 0s: it tries once"},
		{Path: "workload.extend", Syntax: Duration, Default: "never", About: "how often a holder extends its lease, or never"},
		{Path: "workload.fail", Syntax: Percent, Default: "0%", About: "share of critical sections that raise an error"},
		{Path: "workload.readers", Syntax: Percent, Default: "70%", About: "of rwlock: share of acquires in shared mode"},
		{Path: "workload.order", Syntax: Text, Default: "sorted", Values: []string{"sorted", "opposite"}, About: "of nested: two locks in the order of their names, or in any"},
		{Path: "workload.read", Syntax: Text, Default: "inside", Values: []string{"inside", "before-lock"}, About: "when the guarded resource is read: before-lock is wrong on purpose"},
		{Path: "workload.deduplicate", Syntax: Flag, Default: "false", About: "of once: whether the resource refuses to run a job twice"},
		{Path: "workload.resource", Syntax: Text, Default: "ignores-token", About: "what the guarded resource does with tokens"},
		{Path: "workload.store", Syntax: Text, Default: "harness", About: "where the guarded resource lives"},
		{Path: "run", Syntax: Slot, About: "how long, and with which chance"},
		{Path: "run.duration", Syntax: Duration, Default: "30s", About: "from the first to the last operation; holds warmup and settle"},
		{Path: "run.warmup", Syntax: Duration, Default: "1s", About: "part of the run before faults that repeat"},
		{Path: "run.settle", Syntax: Duration, Default: "lock.ttl + 2s", About: "part of the run at its end, without faults, where liveness is judged"},
		{Path: "run.seed", Syntax: Number, About: "of everything that is drawn; drawn itself unless given"},
		{Path: "run.repeat", Syntax: Count, Default: "1", Min: 1, About: "how many runs"},
		{Path: "run.budget", Syntax: Duration, About: "no repeat begins after this"},
		{Path: "faults", Syntax: Slots, About: "what goes wrong"},
		{Path: "faults[].at", Syntax: Span, About: "trigger: this long after the first operation"},
		{Path: "faults[].every", Syntax: Span, About: "trigger: again and again, this long after the last one began"},
		{Path: "faults[].from", Syntax: Duration, Default: "run.warmup", About: "with every: not before"},
		{Path: "faults[].until", Syntax: Duration, About: "with every: not after; the settle phase unless said otherwise"},
		{Path: "faults[].on", Syntax: Text, Values: events(), About: "trigger: a step of a client"},
		{Path: "faults[].after", Syntax: Span, Default: "0s", About: "with on: so long after that step"},
		{Path: "faults[].chance", Syntax: Percent, Default: "100%", About: "with on: in this share of cases"},
		{Path: "faults[].limit", Syntax: Count, Min: 1, About: "with every and on: at most so often"},
		{Path: "faults[].for", Syntax: Span, About: "how long it lasts"},
		{Path: "faults[]." + anyKind + ".of", Syntax: Text, About: "a target, or a list of them"},
		{Path: "faults[]." + anyKind + ".to", Syntax: Text, About: "of a failover: who is to lead, the same as of"},
		{Path: "faults[]." + anyKind + ".direction", Syntax: Text, Default: "both", Values: []string{"both", "to-nodes", "from-nodes"}, About: "which way messages are kept from going"},
		{Path: "faults[]." + anyKind + ".mode", Syntax: Text, Default: "hold", Values: []string{"hold", "drop", "refuse"}, About: "whether they arrive later, never, or connections are reset"},
		{Path: "faults[]." + anyKind + ".restart", Syntax: Text, Default: "data", Values: []string{"data", "prefix", "empty"}, About: "what a node finds when it comes back"},
		{Path: "faults[]." + anyKind + ".delay", Syntax: Span, About: "latency that is added, one way"},
		{Path: "faults[]." + anyKind + ".jump", Syntax: Signed, About: "how far a clock is set forward (+20s) or back (-20s)"},
		{Path: "faults[]." + anyKind + ".rate", Syntax: Factor, About: "of a clock: 1.5 gains half a second a second; of a throttle: the share of time that is left"},
		{Path: "faults[]." + anyKind + ".freeze", Syntax: Flag, About: "whether a clock stands still"},
		{Path: "faults[]." + anyKind + ".clock", Syntax: Text, Default: "wall", Values: []string{"wall", "monotonic"}, About: "which clock"},
		{Path: "faults[]." + anyKind + ".bandwidth", Syntax: Bytes, About: "of each link and direction: 200B/s, 10kB/s, 1MB/s"},
		{Path: "faults[]." + anyKind + ".shape", Syntax: Text, Values: []string{"ring"}, About: "of a partition of all nodes: each node and client hears a majority, no two nodes the same one"},
		{Path: "faults[]." + anyKind + ".only", Syntax: Text, Values: []string{"renewal"}, About: "of a pause: the background renewal of leases alone, while the client goes on"},
		{Path: "faults[]." + anyKind + ".on", Syntax: Text, Default: "clients", Values: []string{"clients", "nodes"}, About: "of a random fault: on one of whom"},
		{Path: "expect", Syntax: Slot, About: "what is expected of each property; held unless said otherwise"},
		{Path: "expect." + anyKind + ".verdict", Syntax: Text, Default: "held", Values: verdicts(), About: "held, violated, or any of both"},
		{Path: "expect." + anyKind + ".because", Syntax: Text, About: "the reason; required with violated"},
		{Path: "expect." + anyKind + ".recover-within", Syntax: Duration, Default: "lock.ttl + 5s", About: "how soon after a fault a lock is to be had again"},
		{Path: "expect." + anyKind + ".min", Syntax: Percent, About: "share of attempts that are answered"},
		{Path: "expect." + anyKind + ".during", Syntax: Text, Default: "calm", Values: periods(), About: "which part of the run counts"},
		{Path: "thresholds", Syntax: Slot, About: "bounds on metrics"},
		{Path: "thresholds." + anyKind + ".max", Syntax: Duration, About: "upper bound of a latency"},
		{Path: "thresholds." + anyKind + ".min", Syntax: Percent, About: "lower bound of a share; of throughput, a number a second"},
		{Path: "thresholds." + anyKind + ".during", Syntax: Text, Default: "calm", Values: periods(), About: "which part of the run counts"},
		{Path: "evidence", Syntax: Slot, About: "with less than this, a run is inconclusive"},
		{Path: "evidence.min-acquires", Syntax: Count, Default: "100", About: "acquires that were granted"},
		{Path: "evidence.min-hits", Syntax: Count, Default: "1", About: "per planned fault: how often it met a hold, or an attempt where it stops all grants"},
	}
}
