package nemesis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/vclock"
)

// ledger is what is in force, by whom, so that overlapping faults compose: a link is as bad as all that lies on it, and
// what is stopped or dead by two faults comes back when the second one heals.
type ledger struct {
	env Env

	mu      sync.Mutex
	next    int
	targets map[string]*target

	links sync.Mutex // guards layers, and is held while they are brought about
	laid  map[cluster.Link][]layer
}

// layer is one fault's part in a link's condition.
type layer struct {
	id        int
	condition cluster.Condition
}

// target is a node or a client. Its lock is held while it is being changed, so that two faults never change it at once.
type target struct {
	mu      sync.Mutex
	pauses  map[int]bool
	stalls  map[int]bool
	kills   map[int]bool
	offsets map[int]vclock.Offset
	runs    bool // a node that is running again, and of which the network wasn't told yet
}

func newLedger(env Env) *ledger {
	return &ledger{env: env, targets: map[string]*target{}, laid: map[cluster.Link][]layer{}}
}

// books returns env's ledger, or an empty one where Run hasn't made any.
func (env Env) books() *ledger {
	if env.ledger != nil {
		return env.ledger
	}
	return newLedger(env)
}

func (l *ledger) id() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	return l.next
}

func (l *ledger) target(name string) *target {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.targets[name]
	if t == nil {
		t = &target{pauses: map[int]bool{}, stalls: map[int]bool{}, kills: map[int]bool{}, offsets: map[int]vclock.Offset{}}
		l.targets[name] = t
	}
	return t
}

// lay adds a condition to links; lift with the same id takes it away again.
func (l *ledger) lay(ctx context.Context, id int, c cluster.Condition, links []cluster.Link) error {
	l.links.Lock()
	defer l.links.Unlock()
	for _, link := range links {
		l.laid[link] = append(l.laid[link], layer{id, c})
	}
	return l.apply(ctx, links)
}

func (l *ledger) lift(ctx context.Context, id int, links []cluster.Link) error {
	l.links.Lock()
	defer l.links.Unlock()
	for _, link := range links {
		l.laid[link] = slices.DeleteFunc(l.laid[link], func(x layer) bool { return x.id == id })
	}
	return l.apply(ctx, links)
}

// apply sets links, those with the same condition together.
func (l *ledger) apply(ctx context.Context, links []cluster.Link) error {
	by := map[cluster.Condition][]cluster.Link{}
	for _, link := range links {
		c := combined(l.laid[link])
		by[c] = append(by[c], link)
	}
	var errs []error
	for _, c := range slices.SortedFunc(maps.Keys(by), compareConditions) {
		errs = append(errs, l.env.Net.Set(ctx, c, by[c]...))
	}
	return errors.Join(errs...)
}

func compareConditions(a, b cluster.Condition) int {
	if a.Mode != b.Mode {
		return int(b.Mode) - int(a.Mode) // the harm first
	}
	return cmp.Or(cmp.Compare(b.Latency, a.Latency), cmp.Compare(a.Rate, b.Rate))
}

// combined: the worst of the modes, the sum of what delays, the narrowest of the rates.
func combined(layers []layer) cluster.Condition {
	var c cluster.Condition
	for _, l := range layers {
		c.Mode = max(c.Mode, l.condition.Mode)
		c.Latency += l.condition.Latency
		c.Jitter += l.condition.Jitter
		if r := l.condition.Rate; r > 0 && (c.Rate == 0 || r < c.Rate) {
			c.Rate = r
		}
	}
	return c
}

// living leaves out those that a kill keeps dead.
func (l *ledger) living(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		t := l.target(name)
		t.mu.Lock()
		defer t.mu.Unlock()
		return len(t.kills) > 0
	})
}

// pause stops a target, unless another fault has done so already.
func (l *ledger) pause(ctx context.Context, id int, name string) error {
	t := l.target(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.kills) > 0 {
		return fmt.Errorf("%w: %s is dead", ErrNoTarget, name)
	}
	if len(t.pauses) == 0 {
		ctx, cancel := whole(ctx)
		defer cancel()
		if err := l.stop(ctx, name); err != nil {
			return errors.Join(err, l.cont(ctx, name)) // some of its threads may stand still
		}
	}
	t.pauses[id] = true
	return nil
}

// whole is for what must not be cut short: half a pause or half a kill could not be healed.
func whole(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), healLimit)
}

// resume ends id's pause. One that a kill has ended, or that was resumed before, is nothing to do.
func (l *ledger) resume(ctx context.Context, id int, name string) error {
	t := l.target(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.pauses[id] {
		return nil
	}
	if len(t.pauses) == 1 {
		if err := l.cont(ctx, name); err != nil {
			return err
		}
	}
	delete(t.pauses, id)
	return nil
}

// kill ends a target, paused or not, unless it is dead already.
func (l *ledger) kill(ctx context.Context, id int, name string) error {
	t := l.target(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.kills) == 0 {
		ctx, cancel := whole(ctx)
		defer cancel()
		if err := l.end(ctx, name); err != nil {
			return err
		}
		clear(t.pauses) // what comes back is a new process …
		clear(t.stalls) // … and a node's disk was thawed, or it could not have died
	}
	t.kills[id] = true
	return nil
}

// revive ends id's kill; the last one brings the target back.
func (l *ledger) revive(ctx context.Context, id int, name string, with cluster.Restart) error {
	t := l.target(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.kills[id] {
		return nil
	}
	if len(t.kills) == 1 {
		if err := l.restart(ctx, t, name, with); err != nil {
			return err
		}
	}
	delete(t.kills, id)
	return nil
}

func (l *ledger) stop(ctx context.Context, name string) error {
	if n := l.env.node(name); n != nil {
		return n.(cluster.Pauser).Pause(ctx)
	}
	return l.env.Clients.Pause(ctx, name)
}

func (l *ledger) cont(ctx context.Context, name string) error {
	if n := l.env.node(name); n != nil {
		return n.(cluster.Pauser).Resume(ctx)
	}
	return l.env.Clients.Resume(ctx, name)
}

// downer is a network that refuses connections to a dead node, as the node's own system would.
type downer interface {
	NodeDown(ctx context.Context, node string) error
	NodeUp(ctx context.Context, node string) error
}

func (l *ledger) end(ctx context.Context, name string) error {
	n := l.env.node(name)
	if n == nil {
		return l.env.Clients.Kill(ctx, name)
	}
	net, ok := l.env.Net.(downer)
	if ok {
		if err := net.NodeDown(ctx, name); err != nil {
			return err
		}
	}
	err := n.(cluster.Killer).Kill(ctx)
	if err != nil && ok {
		return errors.Join(err, net.NodeUp(ctx, name))
	}
	return err
}

// restart brings a target, whose lock is held, back. What of it succeeded isn't done again.
func (l *ledger) restart(ctx context.Context, t *target, name string, with cluster.Restart) error {
	n := l.env.node(name)
	if n == nil {
		return l.env.Clients.Restart(ctx, name)
	}
	if !t.runs {
		if err := n.(cluster.Killer).Restart(ctx, with); err != nil {
			return err
		}
		t.runs = true
	}
	if net, ok := l.env.Net.(downer); ok {
		if err := net.NodeUp(ctx, name); err != nil {
			return err
		}
	}
	t.runs = false
	return nil
}
