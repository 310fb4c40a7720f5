// Package runner is one run from start to end: servers up, clients and nemesis, heal, a last acquire by each client, down,
// and the verdict. It knows the stages and no lock, server, fault or check by name: a Plan has them.
package runner

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/internal/access"
	"github.com/locktest/locktest/internal/proc"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/nemesis"
	"github.com/locktest/locktest/scenarios"
	"github.com/locktest/locktest/stores"
	"github.com/locktest/locktest/workloads"
)

// Plan is a scenario with every name resolved, every power checked and every chance drawn. Nothing of it has started.
type Plan struct {
	Scenario *scenarios.Scenario
	Source   []byte // of the scenario, as given
	Resolved []byte // with every default, the seed and what was set on the command line

	Lock     string         // PROVIDER/STRATEGY
	Provider locks.Provider // says the claims, and opens clients that share this process
	Separate bool           // clients are OS processes
	Client   proc.Command   // starts one of them
	Hello    map[string]any // what it is to be

	Access  access.Access // to servers of somebody else's
	Servers []string      // the hosts of these, in the order of the nodes; nil: they are ours

	Kind    string // embedded, process, …, none
	KindWhy string
	Real    bool // embedded servers are the real ones, as processes of their own
	// Cluster makes the nodes; nil for locks in memory.
	Cluster func(Site) (cluster.Cluster, error)
	// Store is where the guarded resource lives, if not here; nil: in the harness.
	Store *Store
	// Network makes the links: once the nodes run, or before where they talk to each other; nil for locks in memory.
	Network func(Links) (cluster.Network, error)
	// Supervisor is the command that ends what a killed harness leaves behind.
	Supervisor proc.Supervisor

	Workload workloads.Workload
	Config   workloads.Config
	Schedule []nemesis.Plan
	Faults   []history.Fault // the same, in words
	Bounds   history.Bounds
	Checkers []checker.Checker

	// CrossCheck starts the second engine on a history file; nil: it is left out.
	CrossCheck CrossCheck
	Versions   map[string]string
}

// Store is a server of its own for the guarded resource.
type Store struct {
	Kind    string // redis, …
	Cluster func(Site) (cluster.Cluster, error)
	Open    func(stores.Options) stores.Store // for clients that share this process
}

// Site is where a run's servers live.
type Site struct {
	Run     string // the run's id; empty where nothing is going to be started
	Logs    string // the folder of their logs, which are kept
	Spawner *proc.Spawner
	Log     *slog.Logger
}

// Links is what a network is to link.
type Links struct {
	Nodes   []cluster.Node
	Store   cluster.Node     // reached by clients alone; nil: there is none
	Peering *cluster.Peering // between nodes; nil: none
	Clients []string
	Seed    uint64
	// Messages says that a fault needs messages to be told apart.
	Messages bool
	Log      *slog.Logger
}

// tellsMessages says whether a fault of the schedule needs that.
func (p *Plan) tellsMessages() bool {
	return slices.ContainsFunc(p.Schedule, func(s nemesis.Plan) bool {
		t, ok := s.Fault.(interface{ Tells() bool })
		return ok && t.Tells()
	})
}

// names of the clients.
func (p *Plan) clients() []string {
	names := make([]string, p.Scenario.Clients.Count)
	for i := range names {
		names[i] = clientName(i)
	}
	return names
}

// runsCommands says whether the scenario brings some.
func (p *Plan) runsCommands() bool {
	return slices.ContainsFunc(p.Scenario.Faults, func(f scenarios.Fault) bool { return len(f.Args.Exec.Inject) > 0 })
}

func (p *Plan) claims() locks.Claims { return p.Provider.Claims(p.Scenario.Lock.TTL) }

// stallLimit is how late a timer may be before the host counts as stalled.
func (p *Plan) stallLimit() time.Duration {
	if ttl := p.claims().TTL; ttl > 0 {
		return ttl / 10
	}
	return 100 * time.Millisecond
}

// PowerError is a fault that this cluster or these clients can't be harmed by. Nothing has started.
type PowerError struct {
	Code  string // empty: CodePower
	Fault history.Fault
	File  string
	Err   error
}

func (e *PowerError) Error() string {
	if e.Fault.Number == 0 { // it is about something else
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s: line %d: fault %d: %v", e.File, e.Fault.Line, e.Fault.Number, e.Err)
}

func (e *PowerError) Unwrap() error { return e.Err }

// CodePower is the code of a PowerError.
const CodePower = "LT105"

// Tell is how the error is told to people.
func (e *PowerError) Tell() (code, message string, details, fix []string) {
	return cmp.Or(e.Code, CodePower), e.Error(), nil, nil
}

// CheckPowers asks each fault whether it can be brought about on a cluster that was made but not started; nil: there is none.
func (p *Plan) CheckPowers(c cluster.Cluster) error {
	env := nemesis.Env{Clients: &fleet{plan: p, order: p.clients()}}
	if c != nil {
		env.Nodes = c.Nodes()
	}
	if p.Store == nil {
		return p.check(env)
	}
	s, err := p.Store.Cluster(Site{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer s.Close()
	env.Store = s.Nodes()[0]
	return p.check(env)
}

// check asks each fault whether it can be brought about, before anything starts.
func (p *Plan) check(env nemesis.Env) error {
	for _, s := range p.Schedule {
		if err := s.Fault.Check(env); err != nil {
			return &PowerError{Fault: p.Faults[s.Number-1], File: p.Scenario.File, Err: err}
		}
	}
	return nil
}

// resource is the one that the lock of that name guards.
func (p *Plan) resource(lock string, r workloads.Recorder) *workloads.Resource {
	if p.Store != nil {
		return workloads.NewStored(lock, p.Scenario.Workload.Resource, p.Store.Kind)
	}
	return workloads.NewResource(lock, p.Scenario.Workload.Resource, r)
}

// OptionsOf are the lock's options as one client has them.
func (p *Plan) OptionsOf(client string) map[string]string {
	options := maps.Clone(p.Scenario.Lock.Options)
	if options == nil {
		options = map[string]string{}
	}
	maps.Copy(options, p.Scenario.Clients.Options[client])
	return options
}
