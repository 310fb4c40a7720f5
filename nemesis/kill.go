package nemesis

import (
	"context"
	"fmt"
	"time"

	"github.com/locktest/locktest/cluster"
)

// KillSpec says who is killed and what becomes of it.
type KillSpec struct {
	Of      Target
	Restart cluster.Restart // what a node finds when it comes back; empty: its data
	// Stays leaves nodes dead for the rest of the run. Clients come back in any case, as new processes.
	Stays bool
}

// Kill ends whole processes by SIGKILL, as a crash does: connections end, what wasn't written is lost.
type Kill struct{ spec KillSpec }

// NewKill returns a kill as spec says.
func NewKill(spec KillSpec) *Kill {
	if spec.Restart == "" {
		spec.Restart = cluster.WithData
	}
	return &Kill{spec}
}

// Kind is "kill".
func (k *Kill) Kind() string { return "kill" }

// Text says it in words.
func (k *Kill) Text() string {
	text := "kill " + k.spec.Of.Text()
	if k.spec.Restart == cluster.Empty {
		text += ", restarted without data"
	}
	return text
}

// Target is who is killed.
func (k *Kill) Target() Target { return k.spec.Of }

// clientGap is how long a killed client is gone where nobody says otherwise.
const clientGap = time.Second

// Default is how long a kill lasts that doesn't say: a client comes back after a second, a node never.
func (k *Kill) Default(env Env) time.Duration {
	for _, name := range k.spec.Of.static(env) {
		if env.node(name) != nil {
			return 0
		}
	}
	return clientGap
}

// Check wants every node that may be meant to be a cluster.Killer.
func (k *Kill) Check(env Env) error {
	if err := k.spec.Of.check(env); err != nil {
		return fmt.Errorf("kill: %w", err)
	}
	switch k.spec.Restart {
	case cluster.WithData, cluster.Empty, cluster.WithPrefix:
	default:
		return fmt.Errorf("kill: restart is %q, want data, prefix or empty", k.spec.Restart)
	}
	if err := needPower[cluster.Killer](env, k.spec.Of, "kill", "killed"); err != nil {
		return err
	}
	return k.checkRestart(env)
}

func (k *Kill) checkRestart(env Env) error {
	for _, name := range k.spec.Of.static(env) {
		n, ok := env.node(name).(cluster.RestartChecker)
		if !ok || k.spec.Stays {
			continue
		}
		if err := n.CanRestart(k.spec.Restart); err != nil {
			return fmt.Errorf("kill: node %s: %w", name, err)
		}
	}
	return nil
}

// loss says that a server comes back without its data, though with data is what it was to come back.
func (k *Kill) loss(env Env, names []string) string {
	for _, name := range names {
		if n, ok := env.node(name).(cluster.Forgetful); ok && n.Forgets() && k.spec.Restart != cluster.Empty && !k.spec.Stays {
			return "; it persists nothing, so it comes back without data"
		}
	}
	return ""
}

// Inject kills the targets; healing restarts them.
func (k *Kill) Inject(ctx context.Context, env Env) (Injection, error) {
	names, err := k.spec.Of.pick(ctx, env)
	if err != nil {
		return Injection{}, fmt.Errorf("kill %s: %w", k.spec.Of.Text(), err)
	}
	books := env.books()
	id := books.id()
	heal := func(ctx context.Context) error {
		return each(names, func(name string) error {
			if k.spec.Stays && env.node(name) != nil {
				return nil
			}
			return books.revive(ctx, id, name, k.spec.Restart)
		})
	}
	text := fmt.Sprintf("kill %s (%s%s)", and(names), env.how(names, "SIGKILL"), k.loss(env, names))
	env.begin(names, text)
	if err := each(names, func(name string) error { return books.kill(ctx, id, name) }); err != nil {
		return Injection{}, undo(ctx, fmt.Errorf("kill %s: %w", and(names), err), heal)
	}
	return Injection{Targets: names, Text: text, Heal: heal}, nil
}
