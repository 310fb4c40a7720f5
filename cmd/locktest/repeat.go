package main

import (
	"context"
	"fmt"
	"time"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// repeat runs one scenario as often as asked for, with seeds that count up, until a run isn't as expected.
func (a *app) repeat(ctx context.Context, l loaded, plan *runner.Plan, r scenarios.Run, f *runFlags) []*runner.Outcome {
	var outcomes []*runner.Outcome
	began := time.Now()
	first := plan.Scenario.Run.Seed
	for i := range max(1, r.Repeat) {
		if i > 0 {
			if r.Budget > 0 && time.Since(began) > r.Budget {
				fmt.Fprintf(a.stderr, "locktest: the budget of %v is spent after %d of %d runs\n", r.Budget, i, r.Repeat)
				break
			}
			next := *plan.Scenario
			next.Run.Seed = first + uint64(i)
			var err error
			if plan, err = catalog.Resolve(&next, l.source, catalog.ResolveOptions{CrossCheck: f.crossCheck == "on", NoExec: f.noExec, Self: catalog.Self()}); err != nil {
				return append(outcomes, &runner.Outcome{Scenario: &next, Err: err})
			}
		}
		o := a.one(ctx, plan, f)
		outcomes = append(outcomes, o)
		if exitOf(o, f.gate.passes) != runner.ExitOK || ctx.Err() != nil {
			break
		}
	}
	if r.Repeat > 1 && !a.json {
		a.tally(outcomes, r.Repeat, f)
	}
	return outcomes
}

// tally is the last line of a scenario that was run several times.
func (a *app) tally(outcomes []*runner.Outcome, planned int, f *runFlags) {
	as := 0
	for _, o := range outcomes {
		if exitOf(o, f.gate.passes) == runner.ExitOK {
			as++
		}
	}
	text := fmt.Sprintf("%s with %s: as expected in %d of %d runs", outcomes[0].Scenario.Name, outcomes[0].Lock, as, len(outcomes))
	if len(outcomes) < planned {
		text += fmt.Sprintf("; %d were planned, it stops at the first that is not", planned)
	}
	fmt.Fprintln(a.screen(), text)
}
