package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locktest/locktest/cluster"
)

// needPower wants every node that t may mean to have the power P.
func needPower[P any](env Env, t Target, kind, done string) error {
	for _, name := range t.static(env) {
		n := env.node(name)
		if n == nil {
			continue // a client: all of them can be paused and killed
		}
		if _, ok := n.(P); !ok {
			return fmt.Errorf("%s: node %s%s can't be %s", kind, name, kindOf(n), done)
		}
	}
	return nil
}

func kindOf(n cluster.Node) string {
	if k, ok := n.(interface{ Kind() string }); ok {
		return " (" + k.Kind() + ")"
	}
	return ""
}

// how says by which means: a signal, unless nothing is a process.
func (env Env) how(names []string, signal string) string {
	for _, name := range names {
		n := env.node(name)
		if n == nil && env.Clients.Separate() {
			return signal
		}
		if m, ok := n.(interface{ Means(signal string) string }); ok { // by something that does as much
			return m.Means(signal)
		}
		if _, ok := n.(cluster.Pidded); ok {
			return signal
		}
	}
	return "no process is signalled"
}

func checkLinks(env Env, direction string) error {
	if len(env.Nodes) == 0 {
		return errors.New("there are no links, the lock lives in memory")
	}
	if !slices.Contains([]string{"", BothWays, ToNodes, FromNodes}, direction) {
		return fmt.Errorf("direction is %q, want %s, %s or %s", direction, BothWays, ToNodes, FromNodes)
	}
	return nil
}

// layOn puts links into a condition.
func layOn(ctx context.Context, env Env, targets []string, text string, c cluster.Condition, links []cluster.Link) (Injection, error) {
	if env.Net == nil {
		return Injection{}, fmt.Errorf("%s: there is no network", text)
	}
	books := env.books()
	id := books.id()
	heal := func(ctx context.Context) error { return books.lift(ctx, id, links) }
	env.begin(targets, text)
	if err := books.lay(ctx, id, c, links); err != nil {
		return Injection{}, undo(ctx, fmt.Errorf("%s: %w", text, err), heal)
	}
	return Injection{Targets: targets, Text: text, Heal: heal}, nil
}

// between returns the links from each group to the others.
func between(env Env, groups [][]string, direction string) []cluster.Link {
	var out []cluster.Link
	for i, a := range groups {
		for _, b := range groups[i+1:] {
			for _, x := range a {
				for _, y := range b {
					out = append(out, env.links(x, y, direction)...)
				}
			}
		}
	}
	return out
}

// around returns the links from names to everybody else.
func around(env Env, names []string, direction string) []cluster.Link {
	others := slices.DeleteFunc(slices.Concat(env.clients(), env.nodes()), func(n string) bool { return slices.Contains(names, n) })
	return between(env, [][]string{names, others}, direction)
}

// touching returns all links of names, those among themselves too.
func touching(env Env, names []string, direction string) []cluster.Link {
	out := around(env, names, direction)
	for i, a := range names {
		for _, b := range names[i+1:] {
			out = append(out, env.links(a, b, direction)...)
		}
	}
	return out
}

// links returns those between two, in a direction, that exist. Two nodes have one only where the network says so.
func (env Env) links(a, b, direction string) []cluster.Link {
	return slices.DeleteFunc(cluster.Both(a, b), func(l cluster.Link) bool {
		toNode, fromNode := env.node(l.To) != nil, env.node(l.From) != nil
		switch {
		case direction == ToNodes && !toNode, direction == FromNodes && !fromNode:
			return true
		}
		if net, ok := env.Net.(interface{ Has(cluster.Link) bool }); ok {
			return !net.Has(l)
		}
		return toNode == fromNode && !(toNode && peered(env.node(a)) && peered(env.node(b)))
	})
}

// peered says, where there is no network yet to be asked, whether a node talks to others.
func peered(n cluster.Node) bool {
	p, ok := n.(cluster.Peered)
	return ok && p.HasPeers()
}

// each calls f for every name, and goes on after an error.
func each(names []string, f func(string) error) error {
	errs := make([]error, len(names))
	done := make(chan struct{})
	for i, name := range names {
		go func() {
			errs[i] = f(name)
			done <- struct{}{}
		}()
	}
	for range names {
		<-done
	}
	return errors.Join(errs...)
}

// healLimit is how long healing may take on every path.
const healLimit = 30 * time.Second

// undo heals what a fault did before it went wrong.
func undo(ctx context.Context, err error, heal func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healLimit)
	defer cancel()
	return errors.Join(err, heal(ctx))
}
