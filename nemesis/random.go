package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Maker is a kind of fault that Random may choose, and how to aim it at one node or client.
type Maker struct {
	Kind string
	New  func(of Target) Fault
}

// Random brings about one of several kinds on one of the nodes or clients. Which, is drawn for each occurrence: the same for
// the same seed, as long as there are the same nodes and clients.
type Random struct {
	on     string
	makers []Maker
}

// NewRandom returns a random fault on Nodes or on AllUsers.
func NewRandom(on string, makers []Maker) *Random { return &Random{on, makers} }

// Kind is "random".
func (r *Random) Kind() string { return "random" }

// Text says it in words.
func (r *Random) Text() string {
	kinds := make([]string, len(r.makers))
	for i, m := range r.makers {
		kinds[i] = m.Kind
	}
	return "one of " + and(kinds) + " on one of the " + r.on
}

// Tells says whether one of the kinds needs messages to be told apart.
func (r *Random) Tells() bool {
	return slices.ContainsFunc(r.makers, func(m Maker) bool {
		t, ok := m.New(Target{}).(interface{ Tells() bool })
		return ok && t.Tells()
	})
}

// Check wants each kind to be possible on each that may be meant.
func (r *Random) Check(env Env) error {
	names := r.names(env)
	if len(names) == 0 {
		return fmt.Errorf("random: there are no %s", r.on)
	}
	if len(r.makers) == 0 {
		return errors.New("random: no kind is given")
	}
	for _, m := range r.makers {
		for _, name := range names {
			if err := m.New(Target{List: []string{name}}).Check(env); err != nil {
				return fmt.Errorf("random: %w", err)
			}
		}
	}
	return nil
}

// Inject draws, and injects what was drawn.
func (r *Random) Inject(ctx context.Context, env Env) (Injection, error) {
	names := env.books().living(r.names(env))
	if len(names) == 0 {
		return Injection{}, fmt.Errorf("random: %w: all %s are dead", ErrNoTarget, r.on)
	}
	m := r.makers[env.Rand.IntN(len(r.makers))]
	i, err := m.New(Target{List: sample(env, names, 1)}).Inject(ctx, env)
	return forgiving(i), err
}

// forgiving takes what was drawn as it comes: that there was nothing to do it to is a part of the chance.
func forgiving(i Injection) Injection {
	result := i.Result
	if result == nil {
		return i
	}
	i.Result = func() (string, error) {
		text, err := result()
		if errors.Is(err, ErrNoTarget) {
			return i.Text + ", and there was nothing to do it to", nil
		}
		return text, err
	}
	return i
}

func (r *Random) names(env Env) []string {
	if r.on == Nodes {
		return slices.Clone(env.nodes())
	}
	return env.clients()
}
