package main

import (
	"context"
	"fmt"
	"time"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/reports"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// repeat runs one scenario as often as asked for, with seeds that count up. It stops at the first run that fails, or with
// --until never only where one could not be carried out, or the engines disagree about it.
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
		if f.stops(o) || ctx.Err() != nil {
			break
		}
	}
	if r.Repeat > 1 && !a.json {
		a.tally(outcomes, r.Repeat, f)
	}
	return outcomes
}

// stops says whether no further repeat begins after o.
func (f *runFlags) stops(o *runner.Outcome) bool {
	return o.Err != nil || f.until != "never" && exitOf(o, f.gate.passes) != runner.ExitOK
}

// tally is the last lines of a scenario that was run several times: counts, and rates where their number was fixed.
func (a *app) tally(outcomes []*runner.Outcome, planned int, f *runFlags) {
	as := 0
	for _, o := range outcomes {
		if exitOf(o, f.gate.passes) == runner.ExitOK {
			as++
		}
	}
	text := fmt.Sprintf("%s with %s: as expected in %d of %d runs", outcomes[0].Scenario.Name, outcomes[0].Lock, as, len(outcomes))
	if len(outcomes) < planned && f.stops(outcomes[len(outcomes)-1]) {
		text += fmt.Sprintf("; %d were planned, it stops at the first that is not", planned)
	}
	fmt.Fprintln(a.screen(), text)
	if f.until != "never" {
		return
	}
	for _, s := range (&reports.Batch{Outcomes: outcomes}).Series() {
		reports.WriteRates(a.screen(), &s, a.style(a.screen()))
	}
}

// rates are those of all series, if the number of their runs was fixed.
func (f *runFlags) rates(b *reports.Batch) []reports.Rate {
	if f.until != "never" {
		return nil
	}
	var out []reports.Rate
	for _, s := range b.Series() {
		if len(s.Outcomes) > 1 {
			out = append(out, s.Rates()...)
		}
	}
	return out
}
