package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locktest/locktest/baseline"
	"github.com/locktest/locktest/reports"
	"github.com/locktest/locktest/runner"
)

// gate is what makes verdicts an exit status and reports, the same for runs and for histories that are judged again.
type gate struct {
	outputs
	failOn   []string
	exitCode string
	baseline string

	passes map[string]bool                     // conditions that don't fail
	known  *baseline.File                      // nil: there is none
	rates  func(*reports.Batch) []reports.Rate // nil: there are none
}

func (g *gate) flags(cmd *cobra.Command, a *app) {
	g.outputs.flags(cmd, a)
	cmd.Flags().StringSliceVar(&g.failOn, "fail-on", conditionNames(), "which conditions fail the command, with commas between")
	cmd.Flags().StringVar(&g.baseline, "baseline", "", "file of known violations, which don't fail (default "+baseline.DefaultFile+" if it is there; none: not even that)")
	cmd.Flags().StringVar(&g.exitCode, "exit-code", "normal", "normal, or bisect: what git bisect has to skip (inconclusive, or it could not run) is 125")
}

func conditionNames() []string {
	return []string{"violated", "inconclusive", "expectation", "threshold"}
}

// prepare reads the flags, before anything starts.
func (g *gate) prepare(a *app) error {
	if g.exitCode != "normal" && g.exitCode != "bisect" {
		return usage{fmt.Errorf("--exit-code %s: expected normal or bisect", g.exitCode)}
	}
	a.bisect = g.exitCode == "bisect"
	g.passes = map[string]bool{}
	for _, n := range conditionNames() {
		g.passes[n] = true
	}
	for _, n := range g.failOn {
		if _, ok := g.passes[n]; !ok {
			return usage{fmt.Errorf("--fail-on %s: expected some of %s", n, strings.Join(conditionNames(), ", "))}
		}
		delete(g.passes, n)
	}
	if err := g.readBaseline(a); err != nil {
		return err
	}
	return g.parse(a)
}

// readBaseline reads the file that is named, or the one that lies here.
func (g *gate) readBaseline(a *app) error {
	if g.baseline == "none" {
		return nil
	}
	file, err := baseline.Read(cmp.Or(g.baseline, baseline.DefaultFile))
	if errors.Is(err, fs.ErrNotExist) && g.baseline == "" {
		return nil
	}
	if err != nil {
		return err
	}
	g.known = file
	for _, e := range file.Due(time.Now()) {
		fmt.Fprintf(a.stderr, "locktest: %s was to be reviewed by %s: %s (%s)\n", e.ID, e.Review, e.Signature, e.Because)
	}
	return nil
}

// compared is what became of known violations in these runs; nil: there is no baseline.
func (g *gate) compared(outcomes []*runner.Outcome) *baseline.Comparison {
	if g.known == nil {
		return nil
	}
	var runs []baseline.Run
	for _, o := range outcomes {
		runs = append(runs, baseline.Of(o))
	}
	return g.known.Compare(runs)
}

// finish sets the exit status of the whole command, and writes the JSON document and the reports that are asked for.
func (a *app) finish(outcomes []*runner.Outcome, g *gate) error {
	for _, o := range outcomes {
		a.exit = worse(a.exit, exitOf(o, g.passes))
	}
	a.exit = a.coded(a.exit)
	b := &reports.Batch{Outcomes: outcomes, Exit: a.exit, Passes: g.passes, Baseline: g.compared(outcomes)}
	if g.rates != nil {
		b.Rates = g.rates(b)
	}
	if b.Baseline != nil && !a.json && !a.quiet {
		reports.Baseline(a.screen(), b.Baseline, a.style(a.screen()))
	}
	a.report(&g.outputs, b)
	if !a.json {
		return nil
	}
	return a.print(a.documentFor(b))
}

// coded is a status as --exit-code asks for it: git bisect takes 125 for "can't be told of this commit".
func (a *app) coded(status int) int {
	if a.bisect && (status == runner.ExitInconclusive || status >= exitUsage && status < 125) {
		return exitSkip
	}
	return status
}

// exitOf: a signal counts always, a violation even where the harness failed later, but not where the engines disagree.
func exitOf(o *runner.Outcome, passes map[string]bool) int {
	if s := signalStatus(o.Interrupted); s != 0 {
		return s
	}
	if errors.As(o.Err, new(*runner.DisagreementError)) {
		return exitInternal
	}
	exit := conditionStatus(o.Conclusion, passes)
	if o.Err != nil && exit != runner.ExitViolated {
		return statusOf(o.Err)
	}
	return exit
}

// conditionStatus is that of the gravest condition that fails.
func conditionStatus(c runner.Conclusion, passes map[string]bool) int {
	for _, m := range c.Conditions { // the gravest first
		if !passes[m.Name] {
			return m.Exit
		}
	}
	return runner.ExitOK
}

// worse of two statuses: of 1, 2 and 3 the lowest, but what could not run, or was ended, above all but a violation.
func worse(a, b int) int {
	rank := func(s int) int {
		switch {
		case s >= exitInterrupt:
			return 0
		case s == runner.ExitViolated:
			return 1
		case s >= exitUsage:
			return 2
		case s == runner.ExitOK:
			return 9
		}
		return 2 + s
	}
	if rank(a) <= rank(b) {
		return a
	}
	return b
}
