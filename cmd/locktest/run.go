package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/reports"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// runFlags are those of `run` alone.
type runFlags struct {
	choice
	gate       gate
	live       live
	keep       retention
	until      string
	dir        string
	dry        bool
	crossCheck string
	noExec     bool
	timeout    time.Duration
	reportMax  int

	first string // folder of the first run of this command
}

func (a *app) runCommand() *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run SCENARIO...",
		Short: "Run scenarios and judge what was recorded",
		Long: `Run scenarios, one after the other: a file on the disk, or the name of one that comes with the program (locktest list scenarios).

Exit status: 0 all as expected, 1 a safety property is violated, 2 inconclusive, 3 an expectation or a threshold was missed,
64 usage, 65 a scenario file is wrong, 69 the environment, 70 a bug in locktest, 76 a client at fault, 130 and 143 a signal.`,
		Example: `  locktest run quickstart
  locktest run scenarios/redlock-partition.yaml --seed 42
  locktest run pause-holder --lock redis/single --set workload.resource=ignores-token
  locktest run contention --lock redis/single --lock redis/redlock --repeat 5`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage{errors.New("run: no scenario was given: a file, or a name of locktest list scenarios")}
			}
			return nil
		},
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("repeat") && f.repeat < 1 {
				return usage{fmt.Errorf("--repeat %d: expected 1 or more", f.repeat)}
			}
			return a.run(cmd.Context(), args, f)
		},
	}
	f.flags(cmd)
	f.gate.flags(cmd, a)
	f.live.flags(cmd)
	cmd.Flags().StringVar(&f.keep.rule, "keep", "all", "which folders of these runs stay: all, violated (and whatever else was not as expected), or the last N")
	cmd.Flags().IntVarP(&f.repeat, "repeat", "n", 0, "run each N times, with seeds that count up (default: as often as the file says, else once)")
	cmd.Flags().StringVar(&f.until, "until", "violation", "when repeats end: violation, at the first run that fails, or never, for rates with their 95 % intervals")
	cmd.Flags().StringVar(&f.budget, "budget", "", "start no further repeat after this time, such as 10m")
	cmd.Flags().StringVar(&f.dir, "run-dir", "runs", "folder of the runs' folders")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "show what would be run, start nothing")
	cmd.Flags().StringVar(&f.crossCheck, "cross-check", "on", "off: leave the second engine out")
	cmd.Flags().BoolVar(&f.noExec, "no-exec", false, "refuse scenarios that run commands of their own")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "end the whole command after this time; what was recorded is judged")
	cmd.Flags().IntVar(&f.reportMax, "report-max", mostOperations, "operations that the page of a run has at most; the history has all")
	return cmd
}

func (a *app) run(ctx context.Context, files []string, f *runFlags) error {
	switch {
	case f.crossCheck != "on" && f.crossCheck != "off":
		return usage{fmt.Errorf("--cross-check %s: expected on or off", f.crossCheck)}
	case f.until != "violation" && f.until != "never":
		return usage{fmt.Errorf("--until %s: expected violation or never", f.until)}
	case f.timeout < 0:
		return usage{errors.New("--timeout can't be negative")}
	case f.reportMax < 1:
		return usage{fmt.Errorf("--report-max %d: expected 1 or more", f.reportMax)}
	}
	if err := errors.Join(f.gate.prepare(a), f.keep.check()); err != nil {
		return err
	}
	f.lock = true
	all, err := a.load(files, &f.choice)
	if err != nil {
		return err
	}
	plans := make([]*runner.Plan, len(all))
	repeats := make([]scenarios.Run, len(all))
	for i, l := range all {
		repeats[i] = l.scenario.Run
		l.scenario.Run.Repeat, l.scenario.Run.Budget = 1, 0 // of the command: each run's own file says once
		if plans[i], err = catalog.Resolve(l.scenario, l.source, catalog.ResolveOptions{Seed: drawSeed(), CrossCheck: f.crossCheck == "on", NoExec: f.noExec, Self: catalog.Self()}); err != nil {
			return err
		}
	}
	a.keepSecrets(plans)
	if f.dry {
		return a.showPlans(plans)
	}
	if err := f.live.start(a); err != nil {
		return err
	}
	defer f.live.stop(a)
	ctx, done := a.signals(ctx, f.timeout)
	defer done()
	var outcomes []*runner.Outcome
	for i, plan := range plans {
		outcomes = append(outcomes, a.repeat(ctx, all[i], plan, repeats[i], f)...)
		if ctx.Err() != nil {
			break
		}
	}
	f.gate.rates = f.rates
	if err := a.finish(outcomes, &f.gate); err != nil {
		return err
	}
	begun := 0
	for _, o := range outcomes {
		if o.History != nil {
			begun++
		}
	}
	a.ended(ctx, begun)
	return nil
}

// ended tells of a signal that came when there was nothing left to interrupt in a run: what was still to be run isn't.
func (a *app) ended(ctx context.Context, runs int) {
	var signal runner.Interrupt
	if !errors.As(context.Cause(ctx), &signal) {
		return
	}
	fmt.Fprintf(a.stderr, "locktest: ended by %s after %s\n", signal, number(runs, "run"))
	if status := signalStatus(string(signal)); status != 0 {
		a.exit = a.coded(status)
	}
}

// drawSeed is for scenarios that name none. It stays below 2^53, which every reader of JSON can hold.
func drawSeed() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.BigEndian.Uint64(b[:]) >> 11
}

// one runs a plan and writes what there is to write; it prints the result unless JSON is asked for.
func (a *app) one(ctx context.Context, plan *runner.Plan, f *runFlags) *runner.Outcome {
	progress := reports.NewProgress(a.stderr, a.style(a.stderr), a.moving())
	options := runner.Options{Root: f.dir, Log: a.log(), Each: f.live.on(), Began: func(l runner.Live) { f.live.begin(l.Header) }}
	if !a.quiet {
		progress.Title(title(plan))
		options.Event = progress.Event
		options.Began = func(l runner.Live) {
			f.live.begin(l.Header)
			progress.Begin(l.Began, plan.Scenario.Run.Duration, plan.Scenario.Run.Settle, l.Counts)
		}
		stop := context.AfterFunc(ctx, func() {
			progress.Note("locktest: stopping faults, healing, and judging what was recorded (again to leave at once)")
		})
		defer stop()
	}
	o, _ := runner.Run(ctx, plan, options) // its error is in o.Err
	progress.End()
	if f.first == "" && o.Dir != "" {
		f.first = filepath.Base(o.Dir)
	}
	o.With = f.first
	f.gate.known.Excuse(o)
	f.live.end(o)
	a.keep(o, f.reportMax)
	if err := f.keep.ended(o, exitOf(o, f.gate.passes)); err != nil {
		fmt.Fprintf(a.stderr, "locktest: --keep %s: %v\n", f.keep.rule, err)
	}
	if !a.json {
		a.tell(o)
	}
	return o
}

func title(p *runner.Plan) string {
	where := p.Kind
	if p.KindWhy != "" {
		where += ", since " + p.KindWhy
	}
	if p.Kind == "none" {
		where = "in this process"
	}
	return fmt.Sprintf("%s: lock %s, servers: %s, %d clients, seed %d, %v", p.Scenario.Name, p.Lock, where, p.Scenario.Clients.Count, p.Scenario.Run.Seed, p.Scenario.Run.Duration)
}

// screen is where results are told: standard output, unless a report has that for itself.
func (a *app) screen() io.Writer {
	if a.piped {
		return a.stderr
	}
	return a.stdout
}

// tell prints the result of one run.
func (a *app) tell(o *runner.Outcome) {
	if o.History != nil {
		r := reports.Text(a.style(a.screen()))
		if a.quiet {
			r = reports.Verdict(a.style(a.screen()))
		}
		if err := reports.Safely(r)(a.screen(), o); err != nil {
			fmt.Fprintf(a.stderr, "locktest: %v\n", err)
		}
	}
	if o.Err != nil {
		reports.WriteError(a.stderr, o.Err, a.style(a.stderr))
	}
}

// showPlans prints what would be run.
func (a *app) showPlans(plans []*runner.Plan) error {
	if a.json {
		type plan struct {
			Scenario, Lock, Servers string
			Seed                    uint64
			Faults                  []history.Fault
			Resolved                string
		}
		var all []plan
		for _, p := range plans {
			all = append(all, plan{p.Scenario.Name, p.Lock, p.Kind, p.Scenario.Run.Seed, p.Faults, string(p.Resolved)})
		}
		return a.print(map[string]any{"schema": "locktest.plan/1", "plans": all})
	}
	for _, p := range plans {
		fmt.Fprintf(a.stdout, "# %s\n# faults as they would begin:\n", title(p))
		for _, f := range p.Faults {
			fmt.Fprintf(a.stdout, "#   %d  %s, %s\n", f.Number, cmp.Or(f.Text, f.Kind), f.Trigger)
		}
		fmt.Fprintf(a.stdout, "%s", p.Resolved)
	}
	return nil
}
