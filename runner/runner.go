package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locktest/locktest/clients"
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/internal/proc"
	"github.com/locktest/locktest/nemesis"
	"github.com/locktest/locktest/workloads"
)

// Options of one run.
type Options struct {
	Root string // the folder of all runs
	Log  *slog.Logger
	// Began is told once the run's clock starts; Status and Event may be called until Run returns. May be nil.
	Began func(Live)
	// Event is told of each event of the nemesis and of the run's parts, as it is recorded. May be nil.
	Event func(history.Op)
	// Each is told of every event as it is recorded, in their order, between Began and the return of Run. It must not block.
	// May be nil.
	Each func(*history.Op)
}

// Live is a view of a run while it lasts.
type Live struct {
	Run    string
	Dir    string
	Began  time.Time
	Counts func() Counts
	Header history.Header // of the history
}

// Run carries p out and judges what was recorded. The outcome is never nil; its Err, also returned, is the harness's own.
// When ctx ends, faults are healed, and what was recorded until then is judged.
func Run(ctx context.Context, p *Plan, o Options) (*Outcome, error) {
	out := &Outcome{Scenario: p.Scenario, Lock: p.Lock, Kind: p.Kind, KindWhy: p.KindWhy, Real: p.Real, Separate: p.Separate, Seed: p.Scenario.Run.Seed, Began: time.Now()}
	s, err := newStore(o.Root, p.Scenario.Name, out.Seed, out.Began)
	if err != nil {
		out.Err = err
		return out, err
	}
	out.Run, out.Dir = s.id, s.dir
	r := &run{plan: p, options: o, store: s, out: out, watch: newWatch(), log: o.Log}
	out.Err = errors.Join(s.write(ScenarioFile, p.Source), s.write(ResolvedFile, p.Resolved), r.execute(ctx))
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		out.Interrupted = cause.Error()
		if !r.recorded {
			r.log.Info("ended before it began", "error", out.Err)
			out.Err = fmt.Errorf("the run was ended by %w before it began", cause)
		}
	}
	if r.recorded {
		r.judge()
	}
	out.Err = errors.Join(out.Err, s.ended(r.recorded))
	out.Err = p.Access.Redactor().Error(out.Err)
	out.Again = "locktest run " + s.path(ResolvedFile)
	return out, out.Err
}

// run is one in progress.
type run struct {
	plan    *Plan
	options Options
	store   *store
	out     *Outcome
	log     *slog.Logger
	watch   *watch

	spawner  *proc.Spawner
	cluster  cluster.Cluster
	storage  cluster.Cluster // of the guarded resource; nil: it is in the harness
	network  cluster.Network
	fleet    *fleet
	recorder *history.Recorder
	workers  []*workloads.Worker
	recorded bool
}

// execute has every stage in its order. What a stage made is undone when it returns, the last first.
func (r *run) execute(ctx context.Context) (err error) {
	if r.plan.Separate || r.plan.Cluster != nil || r.plan.runsCommands() {
		if r.spawner, err = proc.NewSpawner(proc.Options{Supervisor: r.plan.Supervisor, Log: r.log}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.spawner.Close()) }()
	}
	if r.plan.Cluster != nil {
		if err := r.startCluster(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.network.Close(), r.cluster.Close(), r.closeStorage()) }()
	} else if err := r.plan.check(nemesis.Env{Clients: &fleet{plan: r.plan, order: r.plan.clients()}}); err != nil {
		return err
	}
	r.out.Cluster = r.describe()
	if r.fleet, err = startFleet(ctx, r.plan, r.spawner, r.store.path(LogsDir), r.places, r.log); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.fleet.close()) }()
	return r.record(ctx)
}

// startCluster makes the nodes, asks each fault whether it can be brought about on them, and starts nodes and links.
func (r *run) startCluster(ctx context.Context) (err error) {
	r.cluster, err = r.plan.Cluster(Site{Run: r.store.id, Logs: r.store.path(LogsDir), Spawner: r.spawner, Log: r.log})
	if err != nil {
		return fmt.Errorf("make cluster: %w", err)
	}
	if err := r.makeStorage(); err != nil {
		return err
	}
	if err := r.plan.check(nemesis.Env{Nodes: r.cluster.Nodes(), Store: r.storeNode(), Clients: &fleet{plan: r.plan, order: r.plan.clients()}}); err != nil {
		return err
	}
	if r.storage != nil {
		if err := r.storage.Start(ctx); err != nil {
			return fmt.Errorf("start the store: %w", err)
		}
	}
	r.network, err = cluster.Up(ctx, r.cluster, func(nodes []cluster.Node, p *cluster.Peering) (cluster.Network, error) {
		return r.plan.Network(Links{Nodes: nodes, Store: r.storeNode(), Peering: p, Clients: r.plan.clients(), Seed: r.plan.Scenario.Run.Seed, Messages: r.plan.tellsMessages(), Log: r.log})
	})
	if err != nil {
		return errors.Join(err, r.closeStorage())
	}
	return nil
}

func (r *run) describe() string {
	switch {
	case r.cluster == nil:
		return "in this process"
	case r.storage != nil:
		return r.cluster.Describe() + "; the resource in " + r.storage.Describe()
	}
	return r.cluster.Describe()
}

// record opens the history, starts the run's clock and goes through the parts of the run.
func (r *run) record(ctx context.Context) (err error) {
	pipe, err := r.fleet.pipeDelay(ctx)
	if err != nil {
		return err
	}
	f, err := os.Create(r.store.path(HistoryFile))
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	began := time.Now()
	header := r.header(began, pipe)
	if r.recorder, err = history.NewRecorder(f, header, began); err != nil {
		return err
	}
	r.recorder.Tell(r.options.Each)
	r.recorded = true
	defer func() { err = errors.Join(err, r.recorder.Close()) }()
	r.makeWorkers()
	if r.options.Began != nil {
		r.options.Began(Live{Run: r.store.id, Dir: r.store.dir, Began: began, Counts: r.watch.snapshot, Header: header})
	}
	return r.parts(ctx, began)
}

func (r *run) header(began time.Time, pipe time.Duration) history.Header {
	p := r.plan
	h := history.Header{Schema: history.Schema, Run: r.store.id, Scenario: p.Scenario.Name, Began: began, Seed: p.Scenario.Run.Seed, Cluster: p.Kind, Clients: p.clients(),
		Separate: p.Separate, Workload: p.Workload.Name(), Faults: p.Faults, Bounds: p.Bounds, Pipe: pipe, Versions: p.Versions}
	if r.cluster != nil {
		for _, n := range r.cluster.Nodes() {
			h.Nodes = append(h.Nodes, n.Name())
		}
	}
	for _, name := range p.Config.Locks {
		h.Locks = append(h.Locks, history.Lock{Name: name, Provider: p.Lock, Contract: p.claims()})
		if p.Workload.UsesResource() {
			h.Resources = append(h.Resources, p.resource(name, nil).Describe())
		}
	}
	return h
}

func (r *run) makeWorkers() {
	p := r.plan
	var grants, values atomic.Int64
	shared := workloads.Shared{
		Recorder: r.recorder, Contracts: map[string]history.Contract{}, Resources: map[string]*workloads.Resource{}, Watch: r.watch.step,
		NextGrant: func() int { return int(grants.Add(1)) }, NextValue: func() int64 { return values.Add(1) },
	}
	for _, lock := range p.Config.Locks {
		shared.Contracts[lock] = p.claims()
		if p.Workload.UsesResource() {
			shared.Resources[lock] = p.resource(lock, r.recorder)
		}
	}
	tell := map[string]func(clients.Event){}
	for i, name := range p.clients() {
		threads := r.threads(i, name, shared)
		r.workers = append(r.workers, threads...)
		tell[name] = func(e clients.Event) {
			for _, w := range threads { // whose grant it is knows
				w.Tell(e)
			}
		}
	}
	r.fleet.begin(r.recorder, tell)
}

// threads are the workers of client i, each with a chance of its own.
func (r *run) threads(i int, client string, shared workloads.Shared) []*workloads.Worker {
	p := r.plan
	worker := func(thread int) *workloads.Worker {
		c := p.Config
		c.Thread = thread
		return workloads.NewWorker(r.fleet.members[client], p.Workload, c, shared, rand.New(rand.NewPCG(p.Scenario.Run.Seed, uint64(i)|uint64(thread)<<32)))
	}
	if p.Scenario.Clients.Threads <= 1 {
		return []*workloads.Worker{worker(0)}
	}
	var out []*workloads.Worker
	for thread := 1; thread <= p.Scenario.Clients.Threads; thread++ {
		out = append(out, worker(thread))
	}
	return out
}

// parts is the run's own time: warmup, faults, settle, drain. The first error ends it, and is returned after everything
// was healed.
func (r *run) parts(ctx context.Context, began time.Time) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	stalls, stopStalls := context.WithCancel(context.WithoutCancel(ctx))
	var watching sync.WaitGroup
	watching.Go(func() { clients.WatchStalls(stalls, r.plan.stallLimit(), r.stalled) })
	defer watching.Wait()
	defer stopStalls()

	watching.Go(func() { r.watchNodes(stalls, fail) })
	watching.Go(func() { r.measureOffsets(stalls) })

	stop := make(chan struct{})
	var working sync.WaitGroup
	r.phase(history.PhaseWarmup)
	for _, w := range r.workers {
		working.Go(func() {
			if err := w.Run(ctx, stop); err != nil {
				fail(err)
			}
		})
	}
	if err := r.harm(ctx, began); err != nil {
		fail(err)
	}
	if ctx.Err() == nil {
		r.phase(history.PhaseSettle)
		sleepUntil(ctx, began.Add(r.plan.Scenario.Run.Duration))
	}
	close(stop)
	r.finish(ctx, fail, &working)
	if ctx.Err() == nil { // else the end is not tested, and nothing must look as if it were
		r.phase(history.PhaseDrain)
		r.drain(ctx, fail)
	}
	if ctx.Err() == nil {
		r.phase(history.PhaseEnd)
		r.observe(ctx)
	} else {
		r.phase(history.PhaseCut)
	}
	return r.reason(ctx)
}

// watchNodes ends the run when a server ended that nobody had killed: it would look like one that was.
func (r *run) watchNodes(ctx context.Context, fail context.CancelCauseFunc) {
	if r.cluster == nil {
		return
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, n := range r.servers() {
			if w, ok := n.(cluster.Watched); ok && w.Failed() != nil {
				fail(fmt.Errorf("node %s: %w", n.Name(), w.Failed()))
				return
			}
		}
	}
}

// reason is why ctx ended early; nil if it didn't, or if that was the user's wish.
func (r *run) reason(ctx context.Context) error {
	cause := context.Cause(ctx)
	if err := r.recorder.Err(); err != nil {
		return err
	}
	var signal Interrupt
	if cause == nil || errors.As(cause, &signal) || errors.Is(cause, context.Canceled) {
		return nil
	}
	return cause
}

// Interrupt is the cause of a context that a signal ended; its text is the signal's name.
type Interrupt string

func (i Interrupt) Error() string { return string(i) }

// harm runs the nemesis until the settle phase; it has healed everything when it returns.
func (r *run) harm(ctx context.Context, began time.Time) error {
	s := r.plan.Scenario.Run
	ctx, cancel := context.WithDeadline(ctx, began.Add(s.Duration-s.Settle))
	defer cancel()
	env := nemesis.Env{Clients: r.fleet, Watch: r.watch, Net: r.network, TTL: r.plan.claims().TTL, Rand: rand.New(rand.NewPCG(s.Seed, 1<<40))}
	if r.cluster != nil {
		env.Nodes, env.Store = r.cluster.Nodes(), r.storeNode()
	}
	if r.spawner != nil {
		env.Shell = &nemesis.Shell{Spawner: r.spawner, Run: r.store.id, Log: filepath.Join(r.store.path(LogsDir), "exec.log"), Redact: r.plan.Access.Redactor().Text}
	}
	warm := time.AfterFunc(time.Until(began.Add(s.Warmup)), func() { r.phase(history.PhaseFaults) })
	defer warm.Stop()
	err := nemesis.Run(ctx, env, r.plan.Schedule, teller{r})
	<-ctx.Done()
	return err
}

// teller records what the nemesis does and tells it on.
type teller struct{ r *run }

func (t teller) Record(op history.Op) history.Op {
	op = t.r.recorder.Record(op)
	if t.r.options.Event != nil {
		t.r.options.Event(op)
	}
	return op
}

func (t teller) Since(at time.Time) time.Duration { return t.r.recorder.Since(at) }

func (r *run) phase(name string) { teller{r}.Record(history.Op{Type: history.Phase, Name: name}) }

func (r *run) stalled(late time.Duration) {
	teller{r}.Record(history.Op{Type: history.HostStall, TTL: late})
}

// finish waits for the workers to end what they have begun. One that hangs is given up, and its operation is unknown.
func (r *run) finish(ctx context.Context, fail context.CancelCauseFunc, working *sync.WaitGroup) {
	c := r.plan.Config
	limit := c.Wait + c.Hold.Max + 3*c.TTL + 10*time.Second
	late := time.AfterFunc(limit, func() {
		fail(fmt.Errorf("clients still worked %v after the end of the workload", limit))
	})
	defer late.Stop()
	working.Wait()
}

// drain lets each client acquire each lock once more, one client after the other.
func (r *run) drain(ctx context.Context, fail context.CancelCauseFunc) {
	wait := r.plan.claims().TTL + time.Second
	limit, cancel := context.WithTimeout(ctx, time.Duration(len(r.workers)*len(r.plan.Config.Locks))*(2*wait+time.Second))
	defer cancel()
	for _, w := range r.workers {
		if err := w.Drain(limit, wait); err != nil {
			fail(err)
			return
		}
	}
}

func sleepUntil(ctx context.Context, t time.Time) {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
