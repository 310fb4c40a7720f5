package catalog

import (
	"fmt"
	"slices"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/nemesis"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// fault is an entry of the catalogue: a kind, how a scenario may write it, and what it becomes.
type fault struct {
	kind string
	name scenarios.FaultName
	new  func(scenarios.Fault) nemesis.Fault
}

// faults lists the kinds. What stands under Targets are words and n1, c1 for names.
func faults() []fault { return append(processFaults(), linkFaults()...) }

// aims are the words for clients, for nodes, and for both.
func aims() (clientWords, nodeWords, anyone []string) {
	clientWords = []string{scenarios.NamedClient, nemesis.Holder, nemesis.Waiter, nemesis.AllUsers}
	nodeWords = []string{scenarios.NamedNode, nemesis.One, nemesis.Minority, nemesis.Majority, nemesis.All, nemesis.Nodes, nemesis.Leader, nemesis.Primary, nemesis.Replica}
	return clientWords, nodeWords, slices.Concat(nodeWords, clientWords)
}

// orStore are words and the name of the store.
func orStore(words []string) []string { return append(slices.Clone(words), scenarios.NamedStore) }

// processFaults are those on nodes and clients.
func processFaults() []fault {
	clientWords, nodeWords, anyone := aims()
	return []fault{
		{"cancel", scenarios.FaultName{
			About: "the client's own acquire is cancelled, as by a request's time-out", Args: []string{"of"}, Required: []string{"of"}, Targets: clientWords,
			Process: true, Shared: true, TakesFor: false, Example: "{ on: waiting, after: 5ms..50ms, chance: 30%, limit: 20, cancel: waiter }",
		}, func(f scenarios.Fault) nemesis.Fault { return nemesis.NewCancel(target(f.Args)) }},
		{"clock", scenarios.FaultName{
			About: "a process reads a wrong time: jump, rate, freeze; a monotonic clock can only gain, and its process is started anew afterwards (linux/amd64)",
			Args:  []string{"of", "jump", "rate", "freeze", "clock"}, Required: []string{"of"}, Targets: anyone,
			Process: true, NeedsFor: true, Example: "{ at: 5s, for: 10s, clock: { of: majority, jump: +20s } }",
		}, func(f scenarios.Fault) nemesis.Fault {
			return nemesis.NewClock(nemesis.ClockSpec{Of: target(f.Args), Clock: f.Args.Clock, Jump: f.Args.Jump, Rate: f.Args.Rate, Freeze: f.Args.Freeze})
		}},
		{"exec", scenarios.FaultName{
			About: "commands of your own bring the fault about and end it: they find LOCKTEST_RUN, LOCKTEST_FAULT (inject, heal), LOCKTEST_TARGETS, LOCKTEST_ADDRS and LOCKTEST_PIDS; --no-exec refuses them",
			Args:  []string{"of", "inject", "heal", "limit"}, Required: []string{"inject"}, Targets: anyone,
			TakesFor: true, Example: "{ at: 5s, for: 3s, exec: { of: n1, inject: [sh, -c, kill -STOP $LOCKTEST_PIDS], heal: [sh, -c, kill -CONT $LOCKTEST_PIDS], limit: 10s } }",
		}, func(f scenarios.Fault) nemesis.Fault {
			e := f.Args.Exec
			return nemesis.NewExec(nemesis.ExecSpec{Of: target(f.Args), Inject: e.Inject, Heal: e.Heal, Limit: e.Limit})
		}},
		{"failover", scenarios.FaultName{
			About: "a replica is made the leader: the one that is named, one drawn by chance, or, without a target, whom the service's watchers choose (Sentinels); after for, an old primary that goes on follows it, without for it never hears of it",
			Args:  []string{"of", "to"}, Targets: []string{scenarios.NamedNode, nemesis.Replica},
			Process: true, TakesFor: true, Example: "{ at: 5s, for: 3s, failover: { to: n2 } }",
		}, func(f scenarios.Fault) nemesis.Fault { return nemesis.NewFailover(target(f.Args), f.For.Max == 0) }},
		{"kill", scenarios.FaultName{
			About: "SIGKILL; a client comes back as a new process after 1 s or for, a node only after for", Args: []string{"of", "restart"}, Required: []string{"of"}, Targets: orStore(anyone),
			Process: true, Shared: true, TakesFor: true, Example: "{ on: acquired, after: 20ms, limit: 3, for: 500ms, kill: holder }",
		}, func(f scenarios.Fault) nemesis.Fault {
			return nemesis.NewKill(nemesis.KillSpec{Of: target(f.Args), Restart: cluster.Restart(f.Args.Restart), Stays: f.For.Max == 0})
		}},
		{"pause", scenarios.FaultName{
			About: "SIGSTOP of the whole process tree, as in a long garbage collection or a suspended machine; only: renewal stops the background renewal of a client's leases alone; of clients that share a process (process: shared) it holds the steps alone, and is refused for sessions that a library keeps alive (etcd, ZooKeeper)", Args: []string{"of", "only"}, Required: []string{"of"}, Targets: orStore(anyone),
			Process: true, Shared: true, NeedsFor: true, StopsTime: true, Example: "{ on: acquired, after: 50ms..150ms, chance: 30%, limit: 12, for: 1500ms..3s, pause: holder }",
		}, func(f scenarios.Fault) nemesis.Fault {
			if f.Args.Only == "renewal" {
				return nemesis.NewRenewalPause(target(f.Args))
			}
			return nemesis.NewPause(target(f.Args))
		}},
		{"random", scenarios.FaultName{
			About: "one of several kinds, on one of the clients or nodes, drawn each time", Args: []string{"of", "on"}, Required: []string{"of"}, Kinds: true,
			NeedsFor: true, Example: "{ every: 3s..6s, for: 500ms..3s, random: { of: [pause, kill, partition, latency], on: clients } }",
		}, random},
		{"stall", scenarios.FaultName{
			About: "the disk of a node takes nothing for a while, as one that hangs; each node then has a disk of its own from the start (Linux, root, loop devices)", Args: []string{"of"}, Required: []string{"of"}, Targets: nodeWords,
			Process: true, NeedsFor: true, Example: "{ at: 5s, for: 3s, stall: leader }",
		}, func(f scenarios.Fault) nemesis.Fault { return nemesis.NewStall(target(f.Args)) }},
		{"throttle", scenarios.FaultName{
			About: "a process runs for a share of the time, as on a machine short of processors", Args: []string{"of", "rate"}, Required: []string{"of", "rate"}, Targets: anyone,
			Process: true, Shared: true, NeedsFor: true, Example: "{ at: 5s, for: 10s, throttle: { of: n1, rate: 0.1 } }",
		}, func(f scenarios.Fault) nemesis.Fault { return nemesis.NewThrottle(target(f.Args), f.Args.Rate) }},
	}
}

// random aims each kind, with the arguments that it has by default, at one name.
func random(f scenarios.Fault) nemesis.Fault {
	var makers []nemesis.Maker
	for _, k := range faults() {
		if !slices.Contains(f.Args.Kinds, k.kind) {
			continue
		}
		makers = append(makers, nemesis.Maker{Kind: k.kind, New: func(of nemesis.Target) nemesis.Fault {
			if k.kind == "failover" {
				return nemesis.NewFailover(nemesis.Target{}, false) // who may follow shows when it begins
			}
			return k.new(scenarios.Fault{Kind: k.kind, For: f.For, Args: scenarios.Args{List: of.List, Restart: "data", Clock: "wall",
				Latency: scenarios.Range{Min: 50 * time.Millisecond, Max: 150 * time.Millisecond}, Jump: clockJump, Rate: randomRate(k.kind), Bandwidth: randomBandwidth,
				Message: scenarios.Message{Deed: "reset", What: "reply", Nth: 1}}})
		}})
	}
	return nemesis.NewRandom(f.Args.On, makers)
}

// clockJump is how far a clock jumps that a random fault chose.
const clockJump = 5 * time.Second

// randomBandwidth is slow enough for a lock's few bytes to be late: some 100 ms for a request.
const randomBandwidth = 1000

// randomRate is for a throttle; a clock that jumps keeps its rate.
func randomRate(kind string) float64 {
	if kind == "throttle" {
		return 0.2
	}
	return 0
}

func target(a scenarios.Args) nemesis.Target { return nemesis.Target{Of: a.Of, List: a.List} }

func mode(word string) cluster.Mode {
	for _, m := range []cluster.Mode{cluster.Hold, cluster.Drop, cluster.Refuse} {
		if m.String() == word {
			return m
		}
	}
	return cluster.Hold
}

func faultNames() map[string]scenarios.FaultName {
	names := map[string]scenarios.FaultName{}
	for _, f := range faults() {
		names[f.kind] = f.name
	}
	return names
}

// schedule lays out the faults of a scenario.
func schedule(p *runner.Plan) error {
	s := p.Scenario
	known := map[string]fault{}
	for _, f := range faults() {
		known[f.kind] = f
	}
	var entries []nemesis.Entry
	for i, f := range s.Faults {
		kind, ok := known[f.Kind]
		if !ok {
			return fmt.Errorf("there is no fault %s", f.Kind)
		}
		made := kind.new(f)
		entries = append(entries, nemesis.Entry{Fault: made, Trigger: trigger(f.Trigger), For: nemesis.Range(f.For)})
		p.Faults = append(p.Faults, history.Fault{Number: i + 1, Kind: f.Kind, Text: made.Text(), Line: f.Pos.Line, MinHits: s.Evidence.MinHits, Live: target(f.Args).Live(), Trigger: when(f.Trigger)})
	}
	var err error
	p.Schedule, err = nemesis.Lay(entries, s.Run.Seed, nemesis.Window{From: s.Run.Warmup, Until: s.Run.Duration - s.Run.Settle})
	return err
}

func trigger(t scenarios.Trigger) nemesis.Trigger {
	out := nemesis.Trigger{From: t.From, Until: t.Until, On: nemesis.EventKind(t.On), After: nemesis.Range(t.After), Chance: t.Chance, Limit: t.Limit}
	if t.At != nil {
		at := nemesis.Range(*t.At)
		out.At = &at
	}
	if t.Every != nil {
		every := nemesis.Range(*t.Every)
		out.Every = &every
	}
	return out
}

// when says a trigger in words.
func when(t scenarios.Trigger) string {
	switch {
	case t.At != nil:
		return "at " + span(*t.At)
	case t.Every != nil:
		return "every " + span(*t.Every)
	case t.Chance > 0 && t.Chance < 1:
		return fmt.Sprintf("on %s, in %g %% of cases", t.On, 100*t.Chance)
	}
	return "on " + t.On
}

func span(r scenarios.Range) string {
	if r.Min == r.Max {
		return r.Min.String()
	}
	return fmt.Sprintf("%v..%v", r.Min, r.Max.Round(time.Millisecond))
}

// stalls says whether any fault of a scenario needs nodes with disks of their own.
func stalls(s *scenarios.Scenario) bool {
	return slices.ContainsFunc(s.Faults, func(f scenarios.Fault) bool {
		return f.Kind == "stall" || slices.Contains(f.Args.Kinds, "stall")
	})
}
