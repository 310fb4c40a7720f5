package nemesis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/history"
)

// world is everything that can be harmed, made of maps.
type world struct {
	mu      sync.Mutex
	paused  map[string]bool
	dead    map[string]bool
	down    map[string]bool // as the network was told
	wiped   map[string]bool
	links   map[cluster.Link]cluster.Condition
	fail    map[string]error // by "pause c1"
	idle    map[string]bool  // seen to wait, without a call
	calls   []string
	holders []string
	waiters []string
	subs    []chan Event
}

func newWorld() *world {
	return &world{paused: map[string]bool{}, dead: map[string]bool{}, down: map[string]bool{}, wiped: map[string]bool{},
		links: map[cluster.Link]cluster.Condition{}, fail: map[string]error{}}
}

// do carries a change out, unless its context has ended or it is to fail.
func (w *world) do(ctx context.Context, call string, change func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.fail[call]; err != nil {
		return err
	}
	w.calls = append(w.calls, call)
	change()
	return nil
}

func (w *world) harmed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for what, m := range map[string]map[string]bool{"paused": w.paused, "dead": w.dead, "down": w.down} {
		for name := range m {
			out = append(out, what+" "+name)
		}
	}
	for l, c := range w.links {
		if c != (cluster.Condition{}) {
			out = append(out, fmt.Sprintf("%s>%s %v", l.From, l.To, c.Mode))
		}
	}
	slices.Sort(out)
	return out
}

func (w *world) count(call string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, c := range w.calls {
		if c == call {
			n++
		}
	}
	return n
}

type fakeNode struct {
	w    *world
	name string
}

func (n fakeNode) Name() string { return n.name }
func (n fakeNode) Addr() string { return "127.0.0.1:1" }
func (n fakeNode) Kill(ctx context.Context) error {
	return n.w.do(ctx, "kill "+n.name, func() { n.w.dead[n.name] = true; delete(n.w.paused, n.name) })
}
func (n fakeNode) Restart(ctx context.Context, with cluster.Restart) error {
	return n.w.do(ctx, "restart "+n.name, func() { delete(n.w.dead, n.name); n.w.wiped[n.name] = with == cluster.Empty })
}
func (n fakeNode) Pause(ctx context.Context) error {
	return n.w.do(ctx, "pause "+n.name, func() { n.w.paused[n.name] = true })
}
func (n fakeNode) Resume(ctx context.Context) error {
	return n.w.do(ctx, "resume "+n.name, func() { delete(n.w.paused, n.name) })
}

// plainNode has no powers.
type plainNode struct{ name string }

func (n plainNode) Name() string { return n.name }
func (n plainNode) Addr() string { return "127.0.0.1:1" }
func (n plainNode) Kind() string { return "external" }

// forgetfulNode comes back empty only.
type forgetfulNode struct{ fakeNode }

func (forgetfulNode) CanRestart(with cluster.Restart) error {
	if with != cluster.Empty {
		return errors.New("no disk")
	}
	return nil
}

type fakeClients struct {
	w     *world
	names []string
}

func (c fakeClients) Names() []string { return slices.Clone(c.names) }
func (c fakeClients) Separate() bool  { return true }
func (c fakeClients) Pause(ctx context.Context, n string) error {
	return c.w.do(ctx, "pause "+n, func() { c.w.paused[n] = true })
}
func (c fakeClients) Resume(ctx context.Context, n string) error {
	return c.w.do(ctx, "resume "+n, func() { delete(c.w.paused, n) })
}
func (c fakeClients) Kill(ctx context.Context, n string) error {
	return c.w.do(ctx, "kill "+n, func() { c.w.dead[n] = true; delete(c.w.paused, n) })
}
func (c fakeClients) Restart(ctx context.Context, n string) error {
	return c.w.do(ctx, "restart "+n, func() { delete(c.w.dead, n) })
}

// CancelCalls: who waits has a call open.
func (c fakeClients) CancelCalls(ctx context.Context, n string, before func()) (int, error) {
	if !slices.Contains(c.w.Waiters(), n) || c.w.idle[n] {
		return 0, nil
	}
	before()
	return 1, c.w.do(ctx, "cancel "+n, func() {})
}

// wakefulClients go on with something in a pause.
type wakefulClients struct{ fakeClients }

func (wakefulClients) CanPause() error { return errors.New("they share a process") }

type fakeNet struct{ w *world }

func (n fakeNet) Addr(string, string) string { return "" }
func (n fakeNet) Close() error               { return nil }
func (n fakeNet) Set(ctx context.Context, c cluster.Condition, links ...cluster.Link) error {
	return n.w.do(ctx, "set", func() {
		for _, l := range links {
			n.w.links[l] = c
		}
	})
}
func (n fakeNet) NodeDown(ctx context.Context, name string) error {
	return n.w.do(ctx, "down "+name, func() { n.w.down[name] = true })
}
func (n fakeNet) NodeUp(ctx context.Context, name string) error {
	return n.w.do(ctx, "up "+name, func() { delete(n.w.down, name) })
}

func (w *world) Holders() []string { w.mu.Lock(); defer w.mu.Unlock(); return slices.Clone(w.holders) }
func (w *world) Waiters() []string { w.mu.Lock(); defer w.mu.Unlock(); return slices.Clone(w.waiters) }
func (w *world) Subscribe() (<-chan Event, func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := make(chan Event, 16)
	w.subs = append(w.subs, c)
	return c, func() {}
}

func (w *world) hold(names ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holders = names
}

func (w *world) publish(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.subs {
		select {
		case c <- e:
		default:
		}
	}
}

// env has nodes n1 to n5, a store, and clients c1 to c3.
func (w *world) env() Env {
	env := Env{Net: fakeNet{w}, Clients: fakeClients{w, []string{"c1", "c2", "c3"}}, Watch: w, Rand: rand.New(rand.NewPCG(1, 1)), TTL: time.Second}
	for i := range 5 {
		env.Nodes = append(env.Nodes, fakeNode{w, fmt.Sprintf("n%d", i+1)})
	}
	env.Store = fakeNode{w, "store"}
	return env
}

// diary keeps what was recorded.
type diary struct {
	mu    sync.Mutex
	began time.Time
	ops   []history.Op
}

func newDiary() *diary { return &diary{began: time.Now()} }

func (d *diary) Since(t time.Time) time.Duration { return t.Sub(d.began) }
func (d *diary) Record(op history.Op) history.Op {
	d.mu.Lock()
	defer d.mu.Unlock()
	op.Time = time.Since(d.began)
	d.ops = append(d.ops, op)
	return op
}

// of returns the events of a type.
func (d *diary) of(t history.Type) []history.Op {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(d.ops), func(op history.Op) bool { return op.Type != t })
}

func lay(t *testing.T, seed uint64, w Window, entries ...Entry) []Plan {
	t.Helper()
	plans, err := Lay(entries, seed, w)
	if err != nil {
		t.Fatal(err)
	}
	return plans
}

func at(d time.Duration) Trigger { return Trigger{At: &Range{d, d}} }

func lasting(d time.Duration) Range { return Range{d, d} }

func of(word string) Target { return Target{Of: word} }

var errBroken = errors.New("broken")

func conditions(w *world) map[cluster.Link]cluster.Condition {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.links)
}
