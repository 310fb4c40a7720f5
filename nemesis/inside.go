package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/wire"
)

// Inside has servers act against their clients, or against what they keep for them. It is over at once, and there is nothing to
// heal: what is gone stays so.
type Inside struct {
	act cluster.Act
	of  Target
}

// NewConnectionKill returns a fault by which servers end the connections of a client, or a node all that it has with clients.
func NewConnectionKill(of Target) *Inside { return &Inside{cluster.Disconnect, of} }

// NewSessionExpire returns a fault by which servers end the sessions, or leases, of a client, with all that they hold. A node as
// a target means the sessions that clients have over their connections to it.
func NewSessionExpire(of Target) *Inside { return &Inside{cluster.Expire, of} }

// NewFlush returns a fault by which nodes forget everything that they keep.
func NewFlush(of Target) *Inside { return &Inside{cluster.Flush, of} }

// NewEvict returns a fault by which nodes give up all keys, as for want of memory.
func NewEvict(of Target) *Inside { return &Inside{cluster.Evict, of} }

// Kind is "connection-kill", "session-expire", "flush" or "evict".
func (i *Inside) Kind() string { return string(i.act) }

// Text says it in words.
func (i *Inside) Text() string { return i.text(i.of.Text()) }

// Target is who is acted against.
func (i *Inside) Target() Target { return i.of }

// Default is how long it lasts: it is over at once.
func (i *Inside) Default(Env) time.Duration { return time.Millisecond }

// Tells says that sessions are known from messages.
func (i *Inside) Tells() bool { return i.act == cluster.Expire }

// Check wants nodes that can be asked for the act.
func (i *Inside) Check(env Env) error {
	if err := checkLinks(env, BothWays); err != nil {
		return fmt.Errorf("%s: %w", i.act, err)
	}
	if err := i.of.check(env); err != nil {
		return fmt.Errorf("%s: %w", i.act, err)
	}
	if i.emptying() {
		for _, name := range i.of.static(env) {
			if env.node(name) == nil {
				return fmt.Errorf("%s: %s is a client: it keeps nothing", i.act, name)
			}
		}
	}
	for _, n := range env.Nodes {
		in, ok := n.(cluster.Insider)
		if !ok {
			return fmt.Errorf("%s: node %s%s can't be asked for it", i.act, n.Name(), kindOf(n))
		}
		if err := in.Inside().Can(i.act); err != nil {
			return fmt.Errorf("%s: %w", i.act, err)
		}
	}
	return nil
}

// Inject asks the servers.
func (i *Inside) Inject(ctx context.Context, env Env) (Injection, error) {
	names, err := i.of.pick(ctx, env)
	if err != nil {
		return Injection{}, fmt.Errorf("%s: %w", i.Text(), err)
	}
	text := i.text(and(names))
	env.begin(names, text)
	count, err := i.do(ctx, env, names)
	if err != nil && count == 0 { // where a part of it was done, that can't be undone, and counts
		return Injection{}, fmt.Errorf("%s: %w: %w", text, ErrNoTarget, err)
	}
	return Injection{Targets: names, Text: text, Heal: func(context.Context) error { return nil },
		Result: func() (string, error) { return i.result(text, count) }}, nil
}

// emptying says that it is done to nodes alone.
func (i *Inside) emptying() bool { return i.act == cluster.Flush || i.act == cluster.Evict }

func (i *Inside) do(ctx context.Context, env Env, names []string) (int, error) {
	if i.emptying() {
		return i.empty(ctx, env, names)
	}
	net, ok := env.Net.(cluster.MessageNetwork)
	if !ok {
		return 0, errors.New("this network doesn't know its connections")
	}
	if i.act == cluster.Expire {
		return i.expire(ctx, env, net, names)
	}
	var count counter
	err := eachLink(clientLinks(env, names), func(l cluster.Link) error {
		from := net.Sources(l.From, l.To)
		if len(from) == 0 {
			return nil
		}
		n, err := inside(env, l.To).Disconnect(ctx, from)
		count.add(n)
		return err
	})
	return count.value(), err
}

// expire collects the sessions first: a client may know several servers by the same one.
func (i *Inside) expire(ctx context.Context, env Env, net cluster.MessageNetwork, names []string) (int, error) {
	var all []wire.Session
	for _, l := range clientLinks(env, names) {
		for _, s := range net.Sessions(l.From, l.To) {
			if !slices.ContainsFunc(all, func(o wire.Session) bool { return o.ID == s.ID }) {
				all = append(all, s)
			}
		}
	}
	if len(all) == 0 {
		return 0, nil
	}
	return env.Nodes[0].(cluster.Insider).Inside().Expire(ctx, all)
}

func (i *Inside) empty(ctx context.Context, env Env, names []string) (int, error) {
	var count counter
	err := each(names, func(name string) error {
		if i.act == cluster.Flush {
			err := inside(env, name).Flush(ctx)
			if err == nil {
				count.add(1)
			}
			return err
		}
		n, err := inside(env, name).Evict(ctx)
		count.add(n)
		return err
	})
	return count.value(), err
}

// result says how much it was. Nothing, and the fault did not apply.
func (i *Inside) result(text string, n int) (string, error) {
	things := map[cluster.Act]string{cluster.Disconnect: "connection", cluster.Expire: "session", cluster.Evict: "key"}[i.act]
	switch {
	case things == "":
		return text, nil
	case n == 0:
		return text, fmt.Errorf("%w: there was no %s", ErrNoTarget, things)
	case n == 1:
		return text + " (1 " + things + ")", nil
	}
	return fmt.Sprintf("%s (%d %ss)", text, n, things), nil
}

func (i *Inside) text(of string) string {
	switch i.act {
	case cluster.Disconnect:
		return "end the connections of " + of + " from the server's side"
	case cluster.Expire:
		return "end the sessions of " + of + " from the server's side"
	case cluster.Flush:
		return "flush " + of
	}
	return "evict every key of " + of
}

func inside(env Env, node string) cluster.Inside { return env.node(node).(cluster.Insider).Inside() }

// eachLink calls f for every link at once.
func eachLink(links []cluster.Link, f func(cluster.Link) error) error {
	errs := make([]error, len(links))
	var going sync.WaitGroup
	for i, l := range links {
		going.Go(func() { errs[i] = f(l) })
	}
	going.Wait()
	return errors.Join(errs...)
}

// counter is added to by several at once.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += n
}

func (c *counter) value() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}
