package catalog

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/embedded"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/cluster/proxy"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/internal/proc"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
	"github.com/locktest/locktest/workloads"
)

// ResolveOptions are what a scenario doesn't say.
type ResolveOptions struct {
	Seed       uint64 // for a scenario without one
	CrossCheck bool   // let the second engine decide too
	// Self starts this program again as a client or a supervisor; see Main.
	Self string
}

// Resolve turns a scenario into a plan: names into values, powers checked, the schedule laid out. Nothing is started. Its
// error is about the environment (*cluster.Error) or about a power that this cluster or these clients don't have.
func Resolve(s *scenarios.Scenario, source []byte, o ResolveOptions) (*runner.Plan, error) {
	lock, ok := Find(s.Lock.Use)
	if !ok {
		return nil, fmt.Errorf("there is no lock %s", s.Lock.Use)
	}
	if s.Clients.Threads > 1 {
		return nil, &cluster.Error{Code: CodePower, Message: fmt.Sprintf("clients.threads is %d: clients have one thread each", s.Clients.Threads), Fix: []string{"leave clients.threads out, and raise clients.count"}}
	}
	provider, err := lock.New(s.Lock.Options)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", lock.Name, err)
	}
	if !s.Run.HasSeed {
		s.Run.Seed, s.Run.HasSeed = o.Seed, true
	}
	p := &runner.Plan{Scenario: s, Source: source, Lock: lock.Name, Provider: provider, Workload: workload(s.Workload.Use), Checkers: checker.All(),
		Separate: s.Clients.Process != "shared" && !lock.Memory(),
		Client:   proc.Command{Path: o.Self, Args: []string{argClient}}, Supervisor: proc.Supervisor{Path: o.Self, Args: []string{argSupervise}},
		Hello: map[string]any{"lock": lock.Name, "options": s.Lock.Options}, Config: config(s), Bounds: bounds(s), Versions: Versions()}
	if err := host(p, lock); err != nil {
		return nil, err
	}
	p.CrossCheck = CrossCheck(o.CrossCheck, o.Self)
	p.Resolved = scenarios.Resolved(s)
	return p, schedule(p)
}

func workload(name string) workloads.Workload {
	for _, w := range workloads.All() {
		if w.Name() == name {
			return w
		}
	}
	return nil // names are checked when the file is read
}

func config(s *scenarios.Scenario) workloads.Config {
	w := s.Workload
	return workloads.Config{Locks: lockNamesOf(w.Locks), TTL: s.Lock.TTL, Wait: w.Wait, Hold: workloads.Range(w.Hold), Think: workloads.Range(w.Think), Extend: w.Extend, Fail: w.Fail,
		Mode: s.Lock.Mode, Permits: s.Lock.Permits}
}

// lockNamesOf: orders, orders-2, orders-3, …
func lockNamesOf(n int) []string {
	names := []string{"orders"}
	for i := 2; i <= n; i++ {
		names = append(names, "orders-"+strconv.Itoa(i))
	}
	return names
}

func bounds(s *scenarios.Scenario) history.Bounds {
	recover := cmp.Or(s.Expect[checker.Liveness].RecoverWithin, s.Lock.TTL+5*time.Second)
	return history.Bounds{RecoverWithin: recover, Wait: s.Workload.Wait, MinAcquires: s.Evidence.MinAcquires}
}

// host decides where the servers run, and says why where that was left open.
func host(p *runner.Plan, lock Lock) error {
	if lock.Memory() {
		p.Kind = "none"
		return nil
	}
	service := lock.Service()
	c := p.Scenario.Cluster
	p.Kind = c.Kind
	if c.Kind == "" || c.Kind == "auto" {
		p.Kind, p.KindWhy = auto(service)
	}
	nodes := cmp.Or(c.Nodes, lock.Nodes)
	switch p.Kind {
	case "process":
		if _, err := process.Find(service); err != nil {
			return needed(err, p)
		}
		p.Cluster = func(site runner.Site) (cluster.Cluster, error) {
			return process.New(process.Options{Service: service, Nodes: nodes, Server: c.Options, LogDir: site.Logs, Spawner: site.Spawner, Log: site.Log})
		}
	case "embedded":
		p.Cluster = func(runner.Site) (cluster.Cluster, error) {
			return embedded.New(embedded.Options{Service: service, Nodes: nodes, Server: c.Options})
		}
	default:
		return fmt.Errorf("there is no kind of cluster %q", p.Kind)
	}
	p.Network = network
	return nil
}

func auto(s cluster.Service) (kind, why string) {
	path, err := process.Find(s)
	if err == nil {
		return "process", path + " was found"
	}
	if s.Embed == nil {
		return "process", ""
	}
	return "embedded", s.Binary + " was not found"
}

// needed says which scenario and lock asked for what is missing.
func needed(err error, p *runner.Plan) error {
	if e, ok := err.(*cluster.Error); ok {
		e.Details = append([]string{fmt.Sprintf("needed by: %s (--on %s) in %s", p.Lock, p.Kind, p.Scenario.File)}, e.Details...)
		e.Fix = append(e.Fix, "--on embedded runs servers inside locktest, without the real ones")
	}
	return err
}

func network(l runner.Links) (cluster.Network, error) {
	return proxy.New(proxy.Options{Clients: l.Clients, Nodes: l.Nodes, Peering: l.Peering, Rand: rand.New(rand.NewPCG(l.Seed, 1<<41)), Log: l.Log})
}

// Self is this program's own file, by which it starts itself again.
func Self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}
