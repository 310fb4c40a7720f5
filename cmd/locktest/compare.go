package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/compare"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// compareFlags are those of `compare` alone.
type compareFlags struct {
	locks    []string
	runs     int
	jobs     int
	seed     uint64
	data     string
	markdown string
	html     string
	dir      string
	title    string
	command  string
	noLinks  bool
}

func (a *app) compareCommand() *cobra.Command {
	f := &compareFlags{}
	cmd := &cobra.Command{
		Use:   "compare RUN...|--lock LOCK[,LOCK…] SCENARIO...",
		Short: "Put side by side what many locks kept under the same scenarios, in runs of now or in recorded ones",
		Long: `Run each lock under each scenario, and print the matrix: held, violated, unavailable, inconclusive or n/a, of how many runs.
What a scenario expects is not looked at: a violation is one. A scenario that a lock or its servers can't be put to is n/a.

With the folders of runs (or their ids, or latest) in the place of scenarios nothing is run: what they recorded is put side by
side, each by its lock and its scenario. They have to have ended.

With --data the cells are kept, one a line, and those that are there already are not run again. Exit status: 0 when every cell
was run, whatever became of it; else that of the failure.`,
		Example: `  locktest compare --lock redis/single,etcd/lease scenarios/matrix/*.yaml
  locktest compare --lock all --runs 3 --jobs 3 --data cells.jsonl --html matrix.html scenarios/matrix/*.yaml
  locktest compare runs/20261129T131702-pause-holder-7f3a runs/20261129T132210-pause-holder-9c21`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := recordedRuns(args, f.dir)
			if err != nil {
				return err
			}
			if runs == nil {
				return a.compare(cmd.Context(), args, f)
			}
			for _, name := range []string{"lock", "runs", "jobs", "seed", "data"} {
				if cmd.Flags().Changed(name) {
					return usage{fmt.Errorf("--%s is for runs that are still to be made, and these are recorded: %s", name, strings.Join(args, " "))}
				}
			}
			return a.compareRuns(runs, f)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.locks, "lock", nil, "PROVIDER/STRATEGY, several with commas between; all: every one that isn't broken on purpose")
	flags.IntVar(&f.runs, "runs", 1, "of each cell, with seeds that count up")
	flags.IntVar(&f.jobs, "jobs", 1, "how many runs at once; they share the machine, and slow each other down")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the first run of each cell")
	flags.StringVar(&f.data, "data", "", "file of cells: those in it are not run again, new ones are added")
	flags.StringVar(&f.markdown, "markdown", "", "write the matrix as a page to this file")
	flags.StringVar(&f.html, "html", "", "write it as an HTML page with plots to this file; a cell opens to its runs and their reports")
	flags.StringVar(&f.title, "title", "Results", "of these pages")
	flags.StringVar(&f.command, "command", "", "how these pages are made again, said in them")
	flags.BoolVar(&f.noLinks, "no-links", false, "without links to the runs' reports in the HTML page, which is then the same wherever it is kept")
	flags.StringVar(&f.dir, "run-dir", filepath.Join("runs", "compare"), "folder of the runs' folders, apart from those of run: latest is not one of them")
	return cmd
}

func (a *app) compare(ctx context.Context, files []string, f *compareFlags) error {
	if f.runs < 1 || f.jobs < 1 {
		return usage{errors.New("--runs and --jobs are at least 1")}
	}
	names, err := comparedLocks(f.locks)
	if err != nil {
		return err
	}
	cells, err := readCells(f.data)
	if err != nil {
		return err
	}
	jobs, na, err := a.cellJobs(names, files, f)
	if err != nil {
		return err
	}
	ctx, done := a.signals(ctx, 0)
	defer done()
	k := &keeper{cells: cells, file: f.data}
	for _, c := range na {
		if err := k.add(c); err != nil {
			return err
		}
	}
	if err := a.runCells(ctx, jobs, f, k); err != nil {
		return err
	}
	return a.showMatrix(compare.New(k.cells), f)
}

// comparedLocks are those of --lock.
func comparedLocks(names []string) ([]catalog.Lock, error) {
	if len(names) == 0 {
		return nil, usage{errors.New("no lock was given: --lock PROVIDER/STRATEGY[,…], or all; the folders of runs instead of scenarios need none")}
	}
	var out []catalog.Lock
	for _, name := range names {
		l, ok := catalog.Find(name)
		switch {
		case name == "all":
			out = append(out, slices.DeleteFunc(catalog.Locks(), catalog.Lock.Broken)...)
		case !ok:
			return nil, usage{fmt.Errorf("there is no lock %s: see locktest list locks", name)}
		default:
			out = append(out, l)
		}
	}
	return out, nil
}

// cellJob is a cell that is to be run.
type cellJob struct {
	plan *runner.Plan
	run  int
}

// cellJobs resolves every cell before anything starts. What a lock can't be put to is a cell already.
func (a *app) cellJobs(locks []catalog.Lock, files []string, f *compareFlags) (jobs []cellJob, na []compare.Cell, err error) {
	for _, name := range files {
		file, source, err := scenarios.Find(name)
		if err != nil {
			return nil, nil, err
		}
		for _, l := range locks {
			for run := 1; run <= f.runs; run++ {
				plan, why, err := resolveCell(file, source, l, f.seed+uint64(run-1))
				if err != nil {
					return nil, nil, err
				}
				if why != "" {
					na = append(na, compare.NA(l.Name, scenarioName(file), why))
					break
				}
				jobs = append(jobs, cellJob{plan, run})
			}
		}
	}
	return jobs, na, nil
}

func scenarioName(file string) string {
	return strings.TrimSuffix(file[strings.LastIndexByte(file, '/')+1:], ".yaml")
}

// resolveCell plans one run; why says that the lock can't be put to the scenario.
func resolveCell(file string, source []byte, l catalog.Lock, seed uint64) (plan *runner.Plan, why string, err error) {
	settings := []scenarios.Setting{{Flag: "--lock", Key: "lock.use", Value: l.Name}, {Flag: "--seed", Key: "run.seed", Value: fmt.Sprint(seed)}}
	if scenarioName(file) == "failover" && l.Nodes == 1 && l.Max > 1 { // to whom, else?
		settings = append(settings, scenarios.Setting{Flag: "compare", Key: "cluster.nodes", Value: "2"})
	}
	for _, s := range suited(l) {
		settings = append(settings, scenarios.Setting{Flag: "compare", Key: s[0], Value: s[1]})
	}
	s, problems := scenarios.Load(file, source, catalog.Names(), settings...)
	if s == nil || problems.Failed() {
		return nil, problems.Errors()[0].Message, nil
	}
	plan, err = catalog.Resolve(s, source, catalog.ResolveOptions{Seed: seed, CrossCheck: true, Self: catalog.Self()})
	var power *runner.PowerError
	var host *cluster.Error
	switch {
	case errors.As(err, &power):
		return nil, power.Err.Error(), nil
	case errors.As(err, &host) && host.Code == cluster.CodeUnhostable:
		return nil, err.Error(), nil
	}
	return plan, "", err
}

// suited is how a lock that isn't a plain mutex is used: a semaphore is no guard of a counter.
func suited(l catalog.Lock) [][2]string {
	p, err := l.New(nil)
	if err != nil {
		return nil
	}
	switch c := p.Claims(time.Second); {
	case c.NonExclusive:
		return [][2]string{{"workload.resource", history.ChecksVersion}}
	case c.Permits > 0:
		return [][2]string{{"workload.use", "semaphore"}}
	case c.Shared:
		return [][2]string{{"workload.use", "rwlock"}}
	case c.Reentry > 0:
		return [][2]string{{"workload.use", "reentrant"}}
	}
	return nil
}

// keeper adds cells to the file as they come.
type keeper struct {
	mu    sync.Mutex
	cells []compare.Cell
	file  string
}

func (k *keeper) has(c *compare.Cell) bool {
	return slices.ContainsFunc(k.cells, func(x compare.Cell) bool { return x.Key() == c.Key() })
}

func (k *keeper) add(c compare.Cell) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.has(&c) {
		return nil
	}
	k.cells = append(k.cells, c)
	if k.file == "" {
		return nil
	}
	f, err := os.OpenFile(k.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	line, err := json.Marshal(c)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	return errors.Join(err, f.Close())
}

func readCells(file string) ([]compare.Cell, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cells, err := compare.ReadCells(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return cells, nil
}

// runCells runs what isn't there yet, f.jobs at a time, and tells each as it ends.
func (a *app) runCells(ctx context.Context, jobs []cellJob, f *compareFlags, k *keeper) error {
	jobs = slices.DeleteFunc(jobs, func(j cellJob) bool {
		return k.has(&compare.Cell{Lock: j.plan.Lock, Scenario: j.plan.Scenario.Name, Run: j.run})
	})
	room := make(chan struct{}, f.jobs)
	errs := make([]error, len(jobs))
	var wg sync.WaitGroup
	for i, j := range jobs {
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-room }()
			errs[i] = a.runCell(ctx, j, f, k, fmt.Sprintf("%d of %d", i+1, len(jobs)))
		})
	}
	wg.Wait()
	a.ended(ctx, len(k.cells))
	return errors.Join(errs...)
}

func (a *app) runCell(ctx context.Context, j cellJob, f *compareFlags, k *keeper, where string) error {
	o, err := runner.Run(ctx, j.plan, runner.Options{Root: f.dir, Log: slog.New(slog.DiscardHandler)})
	if o.History == nil || ctx.Err() != nil {
		return err
	}
	a.keep(o, mostOperations)
	c := compare.Of(o, j.run, catalog.Versions()["locktest"])
	if !a.quiet {
		k.mu.Lock()
		fmt.Fprintf(a.stderr, "locktest: %s: %s, %s, run %d: %s\n", where, c.Lock, c.Scenario, c.Run, c.Word)
		k.mu.Unlock()
	}
	return k.add(c)
}

func (a *app) showMatrix(m *compare.Matrix, f *compareFlags) error {
	page := compare.Page{Title: f.title, Command: f.command}
	if f.markdown != "" {
		if err := writeFile(f.markdown, func(w io.Writer) error { return m.WriteMarkdown(w, page) }); err != nil {
			return err
		}
	}
	if f.html != "" {
		dir := filepath.Dir(f.html)
		if f.noLinks {
			dir = ""
		}
		if err := writeFile(f.html, func(w io.Writer) error { return m.WriteHTML(w, page, dir) }); err != nil {
			return err
		}
	}
	if a.json {
		return a.print(m.Document())
	}
	return m.WriteText(a.stdout)
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if errors.Is(err, os.ErrPermission) {
		return unwritten{err}
	}
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
