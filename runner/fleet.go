package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/locktest/locktest/clients"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/internal/proc"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/stores"
)

// member is a client that can be harmed.
type member interface {
	clients.Client
	Pause(context.Context) error
	Resume(context.Context) error
	Kill(context.Context) error
	Restart(context.Context) error
	CancelCalls(ctx context.Context, before func()) (int, error)
	PauseRenewal(ctx context.Context, on bool) error
	Close() error
}

// fleet is all clients of a run, as the nemesis may treat them.
type fleet struct {
	plan    *Plan
	members map[string]member
	order   []string

	mu       sync.Mutex
	recorder *history.Recorder              // nil before the run's clock starts
	tell     map[string]func(clients.Event) // by client
}

func clientName(i int) string { return "c" + strconv.Itoa(i+1) }

// startFleet starts all clients side by side. where says at which places a client reaches the servers.
func startFleet(ctx context.Context, p *Plan, spawner *proc.Spawner, logs string, where func(client string) places, log *slog.Logger) (*fleet, error) {
	f := &fleet{plan: p, members: map[string]member{}, order: p.clients(), tell: map[string]func(clients.Event){}}
	errs := make([]error, len(f.order))
	var wg sync.WaitGroup
	for i, name := range f.order {
		wg.Go(func() {
			m, err := f.start(ctx, i, name, spawner, logs, where(name), log)
			if err != nil {
				errs[i] = err
				return
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			f.members[name] = m
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		f.close()
		return nil, fmt.Errorf("start clients: %w", err)
	}
	return f, nil
}

func (f *fleet) start(ctx context.Context, i int, name string, spawner *proc.Spawner, logs string, at places, log *slog.Logger) (member, error) {
	tell := func(e clients.Event) { f.event(name, e) }
	seed := f.plan.Scenario.Run.Seed
	if !f.plan.Separate {
		lives := uint64(0)
		return clients.NewShared(ctx, name, func(ctx context.Context) (locks.Client, error) {
			lives++ // each life draws owner values of its own
			c, err := f.plan.Provider.Open(ctx, locks.Target{Client: name, Addrs: at.nodes, Rand: locks.SharedRand(rand.NewPCG(seed, uint64(i+1)<<32|lives)), Log: log, Access: f.plan.Access, Servers: f.plan.Servers})
			return f.stored(locks.Guard(c, f.plan.Access.Redactor()), at), f.plan.Access.Redactor().Error(err)
		}, tell)
	}
	cmd := f.plan.Client
	cmd.Env = append(slices.Clone(cmd.Env), "LOCKTEST_CLIENT="+name, "LOCKTEST_SEED="+strconv.FormatUint(seed, 10))
	for n, addr := range at.nodes {
		cmd.Env = append(cmd.Env, fmt.Sprintf("LOCKTEST_SERVER_%d=%s", n, addr))
	}
	hello := maps.Clone(f.plan.Hello)
	hello["stall_ms"] = float64(f.plan.stallLimit()) / float64(time.Millisecond)
	hello["servers"], hello["options"] = at.nodes, f.plan.OptionsOf(name)
	if s := f.plan.Store; s != nil {
		hello["store"] = map[string]any{"kind": s.Kind, "addr": at.store, "check": f.plan.Scenario.Workload.Resource}
	}
	return clients.StartProcess(ctx, clients.ProcessConfig{
		Name: name, Spawner: spawner, Command: cmd, Options: hello, Tell: tell, Log: log,
		Stderr: filepath.Join(logs, name+".stderr"), Stdout: filepath.Join(logs, name+".stdout"),
	})
}

// stored gives a client that shares this process the store.
func (f *fleet) stored(c locks.Client, at places) locks.Client {
	if f.plan.Store == nil {
		return c
	}
	return clients.WithStore(c, f.plan.Store.Open(stores.Options{Addr: at.store, Check: stores.Check(f.plan.Scenario.Workload.Resource)}))
}

// begin lets events into the history from now on.
func (f *fleet) begin(r *history.Recorder, tell map[string]func(clients.Event)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recorder, f.tell = r, tell
}

func (f *fleet) event(client string, e clients.Event) {
	f.mu.Lock()
	recorder, tell := f.recorder, f.tell[client]
	f.mu.Unlock()
	switch {
	case recorder == nil:
	case e.Kind == clients.Stalled:
		recorder.Record(history.Op{Client: client, Type: history.HostStall, TTL: e.Late})
	case tell != nil:
		tell(e)
	}
}

// pipeDelay measures how long a client's reply takes to reach us: half the median of some round trips of the fleet.
func (f *fleet) pipeDelay(ctx context.Context) (time.Duration, error) {
	if !f.plan.Separate {
		return 0, nil
	}
	var trips []time.Duration
	for range 5 {
		for _, name := range f.order {
			sent := time.Now()
			if _, err := f.members[name].Do(ctx, clients.Request{Op: clients.OpWork}); err != nil {
				return 0, err
			}
			trips = append(trips, time.Since(sent))
		}
	}
	slices.Sort(trips)
	return trips[len(trips)/2] / 2, nil
}

// Names in order.
func (f *fleet) Names() []string { return f.order }

// Separate says whether each is an OS process.
func (f *fleet) Separate() bool { return f.plan.Separate }

func (f *fleet) member(client string) (member, error) {
	m, ok := f.members[client]
	if !ok {
		return nil, fmt.Errorf("there is no client %s", client)
	}
	return m, nil
}

// Pause stops the client.
func (f *fleet) Pause(ctx context.Context, client string) error {
	return f.with(client, func(m member) error { return m.Pause(ctx) })
}

// Resume ends a Pause.
func (f *fleet) Resume(ctx context.Context, client string) error {
	return f.with(client, func(m member) error { return m.Resume(ctx) })
}

// Kill records the crash first: whatever the client does after that line is none of its acts.
func (f *fleet) Kill(ctx context.Context, client string) error {
	return f.with(client, func(m member) error {
		f.mu.Lock()
		recorder := f.recorder
		f.mu.Unlock()
		if recorder != nil {
			recorder.Record(history.Op{Client: client, Type: history.Crash})
		}
		return m.Kill(ctx)
	})
}

// CancelCalls cancels the acquires that the client has open, if any, once before has returned, and says how many.
func (f *fleet) CancelCalls(ctx context.Context, client string, before func()) (int, error) {
	m, err := f.member(client)
	if err != nil {
		return 0, err
	}
	return m.CancelCalls(ctx, before)
}

// PauseRenewal stops the background renewal of the client's leases, or lets it go on.
func (f *fleet) PauseRenewal(ctx context.Context, client string, on bool) error {
	err := f.with(client, func(m member) error { return m.PauseRenewal(ctx, on) })
	if !on && errors.Is(err, clients.ErrDead) {
		return nil // its next life begins with it
	}
	return err
}

// Renews says whether the lock renews leases in the background.
func (f *fleet) Renews() bool { return f.plan.claims().Background }

// CanPause says why clients of this lock can't be paused: a process that all share goes on, and keeps their sessions alive.
func (f *fleet) CanPause() error {
	if f.plan.Separate || !KeptAlive(f.plan.claims()) {
		return nil
	}
	return fmt.Errorf("clients that share a process go on keeping their sessions of %s alive: write process: separate", f.plan.Lock)
}

// KeptAlive says whether a lock's grants are sessions that end unless its library keeps them alive in the background. One that is a
// connection alone, of PostgreSQL, is kept by the system, whether its client runs or not.
func KeptAlive(c locks.Claims) bool { return c.Expiry == history.Session && c.TTL > 0 }

// Pid is the client's process; 0 where it has none of its own, or is dead.
func (f *fleet) Pid(client string) int {
	m, err := f.member(client)
	if err != nil {
		return 0
	}
	if p, ok := m.(interface{ Pid() int }); ok {
		return p.Pid()
	}
	return 0
}

// Restart brings a new process of that name.
func (f *fleet) Restart(ctx context.Context, client string) error {
	return f.with(client, func(m member) error { return m.Restart(ctx) })
}

func (f *fleet) with(client string, do func(member) error) error {
	m, err := f.member(client)
	if err != nil {
		return err
	}
	return do(m)
}

func (f *fleet) close() error {
	errs := make([]error, len(f.order))
	var wg sync.WaitGroup
	for i, name := range f.order {
		if m := f.members[name]; m != nil {
			wg.Go(func() { errs[i] = m.Close() })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}
