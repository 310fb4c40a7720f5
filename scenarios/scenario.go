// Package scenarios reads scenario files: one file is one question. It is strict (an unknown key is an error, with line,
// column and the nearest known name) and knows the shape of a scenario, but no provider, fault or workload by name
// beyond what Names tells it.
package scenarios

import "time"

// Scenario is one file, with every default filled in.
type Scenario struct {
	File    string // as it was given
	Version int
	Name    string
	About   string
	Tags    []string

	Lock       Lock
	Cluster    Cluster
	Clients    Clients
	Workload   Workload
	Run        Run
	Faults     []Fault
	Expect     map[string]Expectation // by property, or property/kind
	Thresholds []Threshold
	Evidence   Evidence
}

// Lock is what is tested.
type Lock struct {
	Use     string // PROVIDER/STRATEGY; empty in a portable scenario
	TTL     time.Duration
	Mode    string
	Permits int
	Options map[string]string // of the strategy
	Command []string          // of exec
	Server  string            // of exec
}

// Cluster is what it runs on.
type Cluster struct {
	Kind    string            // auto, embedded, process, …
	Nodes   int               // 0: the service's default
	Options map[string]string // of the server, such as persistence

	Version     string   // of the server
	Image       string   // of a container
	Endpoints   []string // of servers that stand already
	AllowFaults bool     // on these
	Access      Access   // to these
}

// Clients are the users of locks.
type Clients struct {
	Count   int
	Process string // separate, shared, or empty: the lock's own default
	Threads int
	Options map[string]map[string]string // of single clients
}

// Workload is what clients do meanwhile.
type Workload struct {
	Use    string
	Locks  int
	Hold   Range
	Think  Range
	Wait   time.Duration // how long an acquire may block; 0: try once
	Extend time.Duration // 0: never
	Fail   float64       // share of sections that raise, 0 to 1

	Readers     float64 // of rwlock: share of acquires in shared mode, 0 to 1
	Order       string  // of nested: sorted, opposite
	Deduplicate bool    // of once
	Early       bool    // the resource is read before the lock is asked for

	Resource string // history.IgnoresToken …
	Store    string // harness, …
}

// Run is how long, and with which chance.
type Run struct {
	Duration time.Duration // first to last operation; holds Warmup and Settle
	Warmup   time.Duration
	Settle   time.Duration
	Seed     uint64
	HasSeed  bool
	Repeat   int
	Budget   time.Duration // 0: none
}

// Range is a duration drawn evenly between two ends.
type Range struct{ Min, Max time.Duration }

// Fault is one entry of faults: exactly one trigger and exactly one kind.
type Fault struct {
	Trigger Trigger
	For     Range // how long it lasts; zero: the kind's own default
	Kind    string
	Args    Args // of the kind
	Pos     Pos
}

// Trigger is when a fault begins.
type Trigger struct {
	At     *Range        // since the run's start
	Every  *Range        // and again, this long after the last one began
	From   time.Duration // with Every
	Until  time.Duration // with Every; 0: the settle phase
	On     string        // acquired, waiting, extending, releasing
	After  Range         // with On: so long after the event
	Chance float64       // with On: 0 to 1, default 1
	Limit  int           // with Every and On: at most so often; 0: no limit
}

// Args are the parameters of a fault's kind, read strictly by scenarios as catalog.FaultNames describes them.
type Args struct {
	Of        string        // a target: holder, waiter, one, minority, majority, all, nodes, clients, n1, c2
	List      []string      // targets by name
	Groups    [][]string    // a partition's sides
	Direction string        // both, to-nodes, from-nodes
	Mode      string        // hold, drop, refuse
	Restart   string        // data, prefix, empty
	Latency   Range         // Min ± : latency and its spread
	Jump      time.Duration // of a clock, forward or back
	Rate      float64       // of a clock: 1 is real time; of a process: its share of the processor, 0 to 1
	Freeze    bool          // a clock stands still
	Only      string        // of a pause: renewal
	Bandwidth int64         // of a link, bytes a second
	Shape     string        // of a partition: ring
	Message   Message       // of a message fault
	Exec      Exec          // of exec
	Clock     string        // wall, monotonic
	Kinds     []string      // of a random fault
	On        string        // of a random fault: clients, nodes
}

// Expectation is what is expected of a property.
type Expectation struct {
	Verdict       string // held, violated, any
	Because       string // required with violated
	RecoverWithin time.Duration
	Min           float64 // availability, 0 to 1
	HasMin        bool
	During        string // calm, faults, all
	Pos           Pos
}

// Threshold is a bound on a metric.
type Threshold struct {
	Metric string // acquire.p99
	Max    time.Duration
	Min    float64
	Rate   bool // Min is a number a second, not a share
	During string
	Pos    Pos
}

// Evidence is the least that a run must have seen.
type Evidence struct {
	MinAcquires int
	MinHits     int
}

// Pos is a place in a file. Line and Column count from 1; zero: not in a file.
type Pos struct {
	File         string
	Line, Column int
}
