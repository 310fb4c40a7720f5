package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locktest/locktest/cluster"
)

// Failover makes another node the leader, as a person or a watcher does who believes that the old one is gone. Whether the
// old one hears of it is the service's business: the leader of a quorum steps down, a primary without one goes on.
type Failover struct {
	to    Target
	stays bool
}

// NewFailover returns a failover to one of those that to means; with no target at all, to whom the service's own watchers
// choose, or to a replica drawn by chance where it has none. Healing tells the old leader, unless it stays as it is.
func NewFailover(to Target, stays bool) *Failover { return &Failover{to, stays} }

// failoverLimit is how long a service may take.
const failoverLimit = 15 * time.Second

// Kind is "failover".
func (f *Failover) Kind() string { return "failover" }

// Text says it in words.
func (f *Failover) Text() string {
	if f.open() {
		return "fail over"
	}
	return "fail over to " + f.to.Text()
}

// Target is who is to lead.
func (f *Failover) Target() Target { return f.to }

func (f *Failover) open() bool { return f.to.Of == "" && len(f.to.List) == 0 }

// Check wants a service that has a leader and lets somebody choose another one.
func (f *Failover) Check(env Env) error {
	if _, err := env.leader(); err != nil {
		return fmt.Errorf("failover: %w", err)
	}
	if _, ok := env.chooser(); ok && f.open() {
		return nil
	}
	to := f.drawn()
	if err := to.check(env); err != nil {
		return fmt.Errorf("failover: %w", err)
	}
	if err := needPower[cluster.Promoter](env, to, "failover", "made the leader"); err != nil {
		return err
	}
	for _, name := range to.static(env) {
		n := env.node(name)
		if n == nil {
			return fmt.Errorf("failover: %s is no node", name)
		}
		if err := n.(cluster.Promoter).CanPromote(); err != nil {
			return fmt.Errorf("failover: %w", err)
		}
	}
	return nil
}

// drawn is the target where nobody but chance chooses.
func (f *Failover) drawn() Target {
	if f.open() {
		return Target{Of: Replica}
	}
	return f.to
}

// chooser is who chooses the next leader, where somebody does.
func (env Env) chooser() (cluster.Chooser, bool) {
	if len(env.Nodes) == 0 {
		return nil, false
	}
	c, ok := env.Nodes[0].(cluster.Chooser)
	return c, ok && c.HasChooser() == nil
}

// Inject returns once the other node leads. A service that refuses, or doesn't come to it in time, is a fault that didn't apply.
func (f *Failover) Inject(ctx context.Context, env Env) (Injection, error) {
	l, err := env.leader()
	if err != nil {
		return Injection{}, err
	}
	before, err := l.Leaders(ctx)
	if err != nil {
		return Injection{}, fmt.Errorf("%s: ask who leads: %w", f.Text(), err)
	}
	if c, ok := env.chooser(); ok && f.open() {
		return choose(ctx, env, c, before)
	}
	names, err := f.drawn().pickLiving(ctx, env)
	if err != nil {
		return Injection{}, fmt.Errorf("%s: %w", f.Text(), err)
	}
	to := sample(env, names, 1)[0]
	h := &handover{env: env, id: env.books().id(), to: to, stays: f.stays, olds: slices.DeleteFunc(before, func(n string) bool { return n == to })}
	text := "fail over to " + to + h.unaware()
	env.begin([]string{to}, text)
	return h.took(ctx, text, env.node(to).(cluster.Promoter).Promote)
}

// choose leaves it to the service, which sees to the old leader too.
func choose(ctx context.Context, env Env, c cluster.Chooser, before []string) (Injection, error) {
	text := "fail over to whom the service chooses"
	if len(before) > 0 {
		text = "fail over from " + and(before) + " to whom the service chooses"
	}
	env.begin(before, text)
	h := &handover{env: env}
	i, err := h.took(ctx, text, c.FailOver)
	i.Targets = before
	return i, err
}

// handover is a failover in effect.
type handover struct {
	env   Env
	id    int
	to    string   // empty: it was the service's choice
	olds  []string // who led before
	stays bool
}

// unaware says who goes on leading.
func (h *handover) unaware() string {
	olds := slices.DeleteFunc(h.env.books().living(h.olds), func(name string) bool { return h.following(name) == cluster.ByItself })
	if len(olds) == 0 {
		return ""
	}
	return "; nobody tells " + and(olds)
}

func (h *handover) following(name string) cluster.Following {
	if f, ok := h.env.node(name).(cluster.Follower); ok {
		return f.Following()
	}
	return cluster.ByItself
}

func (h *handover) took(ctx context.Context, text string, do func(context.Context) error) (Injection, error) {
	limited, cancel := context.WithTimeout(ctx, failoverLimit)
	defer cancel()
	if err := do(limited); err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("%w that took over: %w", ErrNoTarget, err)
		}
		// It may have come about all the same.
		return Injection{}, undo(ctx, fmt.Errorf("%s: %w", text, err), h.heal)
	}
	return Injection{Targets: []string{h.to}, Text: text, Heal: h.heal}, nil
}

// heal makes the old leaders followers of the one that was promoted, as long as that one still leads. It leaves alone those
// that are dead, and those whose service sees to it.
func (h *handover) heal(ctx context.Context) error {
	books := h.env.books()
	if h.to == "" || h.stays || len(books.living([]string{h.to})) == 0 {
		return nil
	}
	// What an earlier try killed and could not bring back.
	if err := each(h.olds, func(name string) error { return books.revive(ctx, h.id, name, cluster.Empty) }); err != nil {
		return err
	}
	olds := slices.DeleteFunc(books.living(h.olds), func(name string) bool { return h.following(name) == cluster.ByItself })
	if len(olds) == 0 {
		return nil
	}
	roles, err := h.roles(ctx)
	if err != nil {
		return err
	}
	switch leads, known := roles[h.to]; {
	case !known:
		return fmt.Errorf("%s doesn't say whether it leads", h.to)
	case !leads:
		return nil // somebody else does, by another failover
	}
	return each(olds, func(name string) error { return h.tell(ctx, name, roles) })
}

// roles says of each node that answers whether it leads.
func (h *handover) roles(ctx context.Context) (map[string]bool, error) {
	l, err := h.env.leader()
	if err != nil {
		return nil, err
	}
	r, err := h.env.replicas()
	if err != nil {
		return nil, err
	}
	leaders, errLeaders := l.Leaders(ctx)
	replicas, errReplicas := r.Replicas(ctx)
	roles := map[string]bool{}
	for _, name := range replicas {
		roles[name] = false
	}
	for _, name := range leaders {
		roles[name] = true
	}
	return roles, errors.Join(errLeaders, errReplicas)
}

func (h *handover) tell(ctx context.Context, name string, roles map[string]bool) error {
	leads, known := roles[name]
	if !known {
		return fmt.Errorf("%s doesn't say whether it leads", name)
	}
	if !leads {
		return nil
	}
	if h.following(name) == cluster.ByCommand {
		return h.env.node(name).(cluster.Follower).Follow(ctx, h.to)
	}
	books := h.env.books()
	if err := books.kill(ctx, h.id, name); err != nil {
		return err
	}
	return books.revive(ctx, h.id, name, cluster.Empty)
}
