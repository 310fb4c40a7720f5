package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/cluster"
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
	NoExec     bool   // refuse scenarios that run commands
	// Self starts this program again as a client or a supervisor; see Main.
	Self string
}

// Resolve turns a scenario into a plan: names into values, powers checked, the schedule laid out. Nothing is started. Its
// error is about the environment (*cluster.Error) or about a power that this cluster or these clients don't have.
func Resolve(s *scenarios.Scenario, source []byte, o ResolveOptions) (*runner.Plan, error) {
	if err := commands(s, o.NoExec); err != nil {
		return nil, err
	}
	lock, ok := Find(s.Lock.Use)
	if !ok {
		return nil, fmt.Errorf("there is no lock %s", s.Lock.Use)
	}
	if s.Clients.Threads > 1 && !lock.Threads {
		return nil, &runner.PowerError{File: s.File, Err: fmt.Errorf("clients.threads: a client of %s is for one thread: leave clients.threads out, and raise clients.count", lock.Name)}
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
	if err := clientOptions(p, lock); err != nil {
		return nil, err
	}
	if err := host(p, lock, o.Self); err != nil {
		return nil, err
	}
	if err := storage(p, o.Self); err != nil {
		return nil, err
	}
	p.CrossCheck = CrossCheck(o.CrossCheck, o.Self)
	p.Resolved = scenarios.Resolved(s)
	if err := schedule(p); err != nil {
		return nil, err
	}
	if err := harmless(p); err != nil {
		return nil, err
	}
	return p, powers(p)
}

// commands refuses those that a scenario brings, where nobody wants to run them.
func commands(s *scenarios.Scenario, refuse bool) error {
	if !refuse {
		return nil
	}
	if len(s.Lock.Command) > 0 {
		return &runner.PowerError{Code: CodeNoExec, File: s.File, Err: fmt.Errorf("lock.command runs %s, and --no-exec refuses every command", s.Lock.Command[0])}
	}
	for i, f := range s.Faults {
		if e := f.Args.Exec; len(e.Inject) > 0 {
			return &runner.PowerError{Code: CodeNoExec, File: s.File, Fault: history.Fault{Number: i + 1, Line: f.Pos.Line}, Err: fmt.Errorf("it runs %s, and --no-exec refuses every command", e.Inject[0])}
		}
	}
	return nil
}

// clientOptions looks at the options that single clients have otherwise: each must make a lock by itself.
func clientOptions(p *runner.Plan, lock Lock) error {
	s := p.Scenario
	if len(s.Clients.Options) > 0 && !p.Separate {
		return &runner.PowerError{File: s.File, Err: errors.New("clients.options needs clients with a process each")}
	}
	for _, client := range slices.Sorted(maps.Keys(s.Clients.Options)) {
		if _, err := lock.New(p.OptionsOf(client)); err != nil {
			return fmt.Errorf("lock %s: client %s: %w", lock.Name, client, err)
		}
	}
	return nil
}

// powers makes the cluster, without starting it, and asks each fault whether it can be brought about there.
func powers(p *runner.Plan) error {
	if p.Cluster == nil {
		return p.CheckPowers(nil)
	}
	c, err := p.Cluster(runner.Site{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer c.Close()
	return p.CheckPowers(c)
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
		Mode: s.Lock.Mode, Permits: s.Lock.Permits, Readers: w.Readers, Order: w.Order, Deduplicate: w.Deduplicate, Early: w.Early}
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

func network(l runner.Links) (cluster.Network, error) {
	var others []cluster.Node
	if l.Store != nil {
		others = append(others, l.Store)
	}
	return proxy.New(proxy.Options{Clients: l.Clients, Nodes: l.Nodes, Others: others, Peering: l.Peering, Messages: l.Messages, Rand: rand.New(rand.NewPCG(l.Seed, 1<<41)), Log: l.Log})
}

// Self is this program's own file, by which it starts itself again.
func Self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}
