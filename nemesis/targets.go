package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locktest/locktest/cluster"
)

// ErrNoTarget says that a live target was absent for as long as one waits for it.
var ErrNoTarget = errors.New("there was no target")

// targetLimit is how long a live target is waited for.
const targetLimit = 2 * time.Second

// Target says who is meant: a word of these, or names of nodes and clients.
type Target struct {
	Of   string
	List []string // names, and the words nodes and clients
}

// The words for targets. Holder and Waiter, Leader and Replica are live: who it is shows when the fault begins.
const (
	Holder   = "holder"
	Waiter   = "waiter"
	One      = "one"      // node, drawn by chance
	Minority = "minority" // of the nodes: the most that leave a majority
	Majority = "majority" // of the nodes: the fewest that are more than half
	All      = "all"      // nodes
	Nodes    = "nodes"    // all of them
	AllUsers = "clients"  // all of them
)

// Live says whether the target is chosen when the fault begins.
func (t Target) Live() bool { return t.Of == Holder || t.Of == Waiter || t.Of == Replica || t.leads() }

func (t Target) leads() bool { return t.Of == Leader || t.Of == Primary }

// Text says the target in words: "the holder", "n1 and n2".
func (t Target) Text() string {
	switch t.Of {
	case "":
		return and(t.List)
	case Holder:
		return "the holder"
	case Waiter:
		return "a waiter"
	case Leader, Primary:
		return "the " + t.Of
	case Replica:
		return "a replica"
	case One:
		return "one node"
	case Minority, Majority:
		return "a " + t.Of + " of the nodes"
	case All, Nodes:
		return "all nodes"
	case AllUsers:
		return "all clients"
	default:
		return t.Of
	}
}

// check says which names env doesn't have.
func (t Target) check(env Env) error {
	if t.Of == "" && len(t.List) == 0 {
		return errors.New("it names no target")
	}
	switch t.Of {
	case Holder, Waiter:
		return nil
	case Leader, Primary:
		_, err := env.leader()
		return err
	case Replica:
		_, err := env.replicas()
		return err
	case One, Minority, Majority, All, Nodes:
		return t.checkCount(len(env.Nodes))
	}
	for _, name := range t.names() {
		if _, err := expand(env, name); err != nil {
			return err
		}
	}
	return nil
}

func (t Target) checkCount(nodes int) error {
	if nodes == 0 {
		return fmt.Errorf("%s: there are no nodes, the lock lives in memory", t.Of)
	}
	if t.Of == Minority && minority(nodes) == 0 {
		return fmt.Errorf("minority: %d nodes have none", nodes)
	}
	return nil
}

// static returns who is meant where that is known before the start; for the rest, everybody who may be.
func (t Target) static(env Env) []string {
	switch t.Of {
	case Holder, Waiter:
		return env.clients()
	case One, Minority, Majority, All, Nodes, Leader, Primary, Replica:
		return env.nodes()
	}
	var out []string
	for _, name := range t.names() {
		names, _ := expand(env, name)
		out = append(out, names...)
	}
	return out
}

// pickLiving returns those who are meant now and not dead. Who died between being seen and being picked is made up for by
// another, where it matters only that somebody holds or waits.
func (t Target) pickLiving(ctx context.Context, env Env) ([]string, error) {
	for try := 0; ; try++ {
		names, err := t.pick(ctx, env)
		if err != nil {
			return nil, err
		}
		if names = env.books().living(names); len(names) > 0 {
			return names, nil
		}
		if !t.Live() || try == 2 {
			return nil, fmt.Errorf("%w: it is dead", ErrNoTarget)
		}
	}
}

// pick returns who is meant now.
func (t Target) pick(ctx context.Context, env Env) ([]string, error) {
	nodes := env.nodes()
	switch t.Of {
	case Holder:
		return pickLive(ctx, env, env.Watch.Holders)
	case Waiter:
		return pickLive(ctx, env, env.Watch.Waiters)
	case Leader, Primary:
		return env.pickLeader(ctx)
	case Replica:
		return env.pickReplica(ctx)
	case One:
		return sample(env, nodes, 1), nil
	case Minority:
		return sample(env, nodes, minority(len(nodes))), nil
	case Majority:
		return sample(env, nodes, len(nodes)/2+1), nil
	case All, Nodes:
		return nodes, nil
	}
	var out []string
	for _, name := range t.names() {
		names, err := expand(env, name)
		if err != nil {
			return nil, err
		}
		out = append(out, names...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func (t Target) names() []string {
	if t.Of != "" {
		return []string{t.Of}
	}
	return t.List
}

// pickLive waits for somebody. The client whose step triggered the fault is meant, as long as it is one of them.
func pickLive(ctx context.Context, env Env, who func() []string) ([]string, error) {
	limit := time.NewTimer(targetLimit)
	defer limit.Stop()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for {
		if names := env.books().living(who()); len(names) > 0 {
			if env.Event != nil && slices.Contains(names, env.Event.Client) {
				return []string{env.Event.Client}, nil
			}
			return sample(env, names, 1), nil
		}
		select {
		case <-look.C:
		case <-limit.C:
			return nil, fmt.Errorf("%w for %v", ErrNoTarget, targetLimit)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// sample draws n of names and returns them in their own order.
func sample(env Env, names []string, n int) []string {
	names = slices.Clone(names)
	chosen := env.Rand.Perm(len(names))[:min(n, len(names))]
	slices.Sort(chosen)
	out := make([]string, len(chosen))
	for i, k := range chosen {
		out[i] = names[k]
	}
	return out
}

func minority(nodes int) int { return (nodes - 1) / 2 }

// expand turns a name, or a word for all of a kind, into names.
func expand(env Env, name string) ([]string, error) {
	switch {
	case name == Nodes:
		return env.nodes(), nil
	case name == AllUsers:
		return env.clients(), nil
	case env.node(name) != nil, slices.Contains(env.clients(), name):
		return []string{name}, nil
	default:
		return nil, fmt.Errorf("there is no node or client %s", name)
	}
}

func (env Env) nodes() []string {
	out := make([]string, len(env.Nodes))
	for i, n := range env.Nodes {
		out[i] = n.Name()
	}
	return out
}

// serverNames are those of the nodes and of the store.
func (env Env) serverNames() []string {
	if env.Store == nil {
		return env.nodes()
	}
	return append(env.nodes(), env.Store.Name())
}

func (env Env) clients() []string {
	if env.Clients == nil {
		return nil
	}
	return env.Clients.Names()
}

func (env Env) node(name string) cluster.Node {
	for _, n := range env.Nodes {
		if n.Name() == name {
			return n
		}
	}
	if env.Store != nil && env.Store.Name() == name {
		return env.Store
	}
	return nil
}

func (env Env) begin(targets []string, text string) {
	if env.Begin != nil {
		env.Begin(targets, text)
	}
}

// and joins words: "n1, n2 and n3".
func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
