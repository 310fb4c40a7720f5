package nemesis

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/locktest/locktest/cluster"
)

// Throttle leaves processes only a share of their time, as a machine that is short of processors does: they are stopped and
// let go on again many times a second.
type Throttle struct {
	of    Target
	share float64
}

// NewThrottle returns a throttle; share is what is left of the time, above 0 and below 1.
func NewThrottle(of Target, share float64) *Throttle { return &Throttle{of, share} }

// throttlePeriod is one round of standing still and running.
const throttlePeriod = 50 * time.Millisecond

// Kind is "throttle".
func (t *Throttle) Kind() string { return "throttle" }

// Text says it in words.
func (t *Throttle) Text() string {
	return fmt.Sprintf("leave %s %g %% of the time", t.of.Text(), 100*t.share)
}

// Target is who is throttled.
func (t *Throttle) Target() Target { return t.of }

// Check wants a share between 0 and 1, and nodes that can be paused.
func (t *Throttle) Check(env Env) error {
	if t.share <= 0 || t.share >= 1 {
		return fmt.Errorf("throttle: the rate is %g, want more than 0 and less than 1", t.share)
	}
	if err := t.of.check(env); err != nil {
		return fmt.Errorf("throttle: %w", err)
	}
	return needPower[cluster.Pauser](env, t.of, "throttle", "paused")
}

// Inject begins with standing still.
func (t *Throttle) Inject(ctx context.Context, env Env) (Injection, error) {
	names, err := t.of.pickLiving(ctx, env)
	if err != nil {
		return Injection{}, fmt.Errorf("throttle %s: %w", t.of.Text(), err)
	}
	books := env.books()
	text := fmt.Sprintf("leave %s %g %% of the time (%s)", and(names), 100*t.share, env.how(names, "SIGSTOP"))
	env.begin(names, text)
	id, stop := books.id(), make(chan struct{})
	resume := func(ctx context.Context) error {
		return each(names, func(name string) error { return books.resume(ctx, id, name) })
	}
	pause := func(ctx context.Context) error {
		return each(names, func(name string) error { return books.pause(ctx, id, name) })
	}
	if err := pause(ctx); err != nil {
		return Injection{}, undo(ctx, fmt.Errorf("throttle %s: %w", and(names), err), resume)
	}
	var going sync.WaitGroup
	going.Go(func() { t.alternate(stop, pause, resume) })
	end := sync.OnceFunc(func() { close(stop); going.Wait() })
	return Injection{Targets: names, Text: text, Heal: func(ctx context.Context) error { end(); return resume(ctx) }}, nil
}

// alternate lets go on and stops until stop is closed. A target that was killed meanwhile is left alone by both.
func (t *Throttle) alternate(stop <-chan struct{}, pause, resume func(context.Context) error) {
	run := time.Duration(t.share * float64(throttlePeriod))
	for {
		for _, half := range []struct {
			lasts time.Duration
			then  func(context.Context) error
		}{{throttlePeriod - run, resume}, {run, pause}} {
			select {
			case <-stop:
				return
			case <-time.After(half.lasts):
			}
			ctx, cancel := context.WithTimeout(context.Background(), healLimit)
			half.then(ctx) // what fails now is tried again in a moment, and by the healing
			cancel()
		}
	}
}
