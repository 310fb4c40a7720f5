package nemesis

import (
	"context"
	"errors"
	"fmt"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/blackhole"
)

// BlackHole has all packets of its target's links vanish below TCP: unlike behind a link that is held, nobody acknowledges what
// is sent, the end of a connection included, so that a server's keep-alives and time-outs find its client gone. What was sent
// arrives by retransmission once it has healed, where both sides still want it.
type BlackHole struct{ of Target }

// NewBlackHole returns a black hole around its target.
func NewBlackHole(of Target) *BlackHole { return &BlackHole{of} }

// Kind is "black-hole".
func (b *BlackHole) Kind() string { return "black-hole" }

// Text says it in words.
func (b *BlackHole) Text() string { return "lose all packets of " + b.of.Text() }

// Target is whose packets vanish.
func (b *BlackHole) Target() Target { return b.of }

// Check wants nodes at loopback addresses, and a machine where packets can be dropped.
func (b *BlackHole) Check(env Env) error {
	if err := checkLinks(env, BothWays); err != nil {
		return fmt.Errorf("black-hole: %w", err)
	}
	if err := b.of.check(env); err != nil {
		return fmt.Errorf("black-hole: %w", err)
	}
	for _, n := range env.Nodes {
		if l, ok := n.(cluster.Local); !ok || !l.OnLoopback() {
			return fmt.Errorf("black-hole: node %s%s isn't reached by loopback addresses", n.Name(), kindOf(n))
		}
	}
	if err := blackhole.Supported(); err != nil {
		return fmt.Errorf("black-hole: %w", err)
	}
	return nil
}

// Inject has the packets dropped.
func (b *BlackHole) Inject(ctx context.Context, env Env) (Injection, error) {
	net, ok := env.Net.(cluster.FlowNetwork)
	if !ok {
		return Injection{}, errors.New("black-hole: this network doesn't tell how it carries links")
	}
	names, err := b.of.pick(ctx, env)
	if err != nil {
		return Injection{}, fmt.Errorf("%s: %w", b.Text(), err)
	}
	hole, err := blackhole.Open(ctx)
	if err != nil {
		return Injection{}, err
	}
	text := "lose all packets of " + and(names) + " (DROP rules)"
	env.begin(names, text)
	links := touching(env, names, BothWays)
	for range 2 { // a connection may have been on its way while the first rules were made; now none can begin
		if err = hole.Drop(ctx, flows(net.Flows(links...))...); err != nil {
			return Injection{}, undo(ctx, fmt.Errorf("%s: %w", text, err), hole.Close)
		}
	}
	return Injection{Targets: names, Text: text, Heal: hole.Close}, nil
}

// flows are what vanishes: all to and from where the link is dialed, and each connection onward.
func flows(carried []cluster.Flow) []blackhole.Flow {
	var out []blackhole.Flow
	for _, f := range carried {
		out = append(out, blackhole.Both(f.Listen, "")...)
		for _, c := range f.Onward {
			out = append(out, blackhole.Both(c[0], c[1])...)
		}
	}
	return out
}
