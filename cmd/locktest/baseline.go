package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/locktest/locktest/baseline"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/reports"
	"github.com/locktest/locktest/runner"
)

// baselineFlags are those of `baseline`.
type baselineFlags struct {
	file    string
	dir     string
	because string
	by      string
	review  string
	ids     []string
}

func (a *app) baselineCommand() *cobra.Command {
	f := &baselineFlags{}
	cmd := &cobra.Command{
		Use:   "baseline write|show|prune",
		Short: "Known violations, which don't fail: accept them with a reason, list them, drop those that are resolved",
		Long: `A baseline is a file of violations that are known and accepted, each with a reason: with it only new ones fail a run. A violation
is known by its signature: scenario, lock, property and kind, and the kind of the fault that was active.`,
		Example: `  locktest run pause-holder --lock redis/single --set workload.resource=ignores-token --repeat 3 --until never
  locktest baseline write latest --because "no fencing yet, see #318" --review 2027-01-15
  locktest run pause-holder --lock redis/single --set workload.resource=ignores-token --baseline locktest.baseline.json`,
	}
	cmd.PersistentFlags().StringVar(&f.file, "baseline", baseline.DefaultFile, "the file")
	cmd.PersistentFlags().StringVar(&f.dir, "run-dir", "runs", "folder of the runs' folders")
	write := &cobra.Command{
		Use: "write [RUN...]", Example: "  locktest baseline write latest --because \"no fencing yet\"", Short: "Accept the violations of these runs (default: latest, all runs of the last command) that nobody expected",
		RunE: func(_ *cobra.Command, args []string) error { return a.baselineWrite(args, f) },
	}
	write.Flags().StringVar(&f.because, "because", "", "why they are accepted (required)")
	write.Flags().StringVar(&f.by, "by", "", "who accepts them")
	write.Flags().StringVar(&f.review, "review", "", "day from which on every run reminds of them, such as 2027-01-15")
	show := &cobra.Command{
		Use: "show", Short: "List what is accepted", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.baselineShow(f) },
	}
	prune := &cobra.Command{
		Use: "prune [RUN...]", Short: "Drop what these runs (default: latest, all runs of the last command) show to be resolved, or what --id names",
		RunE: func(_ *cobra.Command, args []string) error { return a.baselinePrune(args, f) },
	}
	prune.Flags().StringSliceVar(&f.ids, "id", nil, "drop these, whatever runs show")
	cmd.AddCommand(write, show, prune)
	return cmd
}

func (a *app) baselineWrite(args []string, f *baselineFlags) error {
	if f.because == "" {
		return usage{errors.New("baseline write: --because is missing: nothing is accepted without a reason")}
	}
	if _, err := time.Parse(time.DateOnly, f.review); f.review != "" && err != nil {
		return usage{fmt.Errorf("--review %s: expected a day such as 2027-01-15", f.review)}
	}
	file, err := baseline.Read(f.file)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = &baseline.File{}, nil
	}
	if err != nil {
		return err
	}
	runs, err := a.loadRuns(args, f.dir)
	if err != nil {
		return err
	}
	var found []baseline.Signature
	for _, r := range runs {
		found = append(found, r.Signatures()...)
	}
	added, err := file.Add(found, f.because, f.by, f.review, time.Now())
	if err != nil {
		return err
	}
	if len(added) > 0 {
		if err := file.Write(f.file); err != nil {
			return err
		}
	}
	if err := a.entries("accepted", added); err != nil || len(added) > 0 || a.json {
		return err
	}
	if len(found) > 0 {
		fmt.Fprintf(a.stderr, "locktest: every unexpected violation of %s is in %s already\n", number(len(runs), "run"), f.file)
		return nil
	}
	fmt.Fprintf(a.stderr, "locktest: there is nothing to accept: %s found no violation that nobody expected, and %s stays as it is. Name the runs that did (locktest list runs), or make more: locktest run SCENARIO --repeat 20 --until never\n", number(len(runs), "run"), f.file)
	return nil
}

// readBaseline reads a file that has to be there.
func readBaseline(name string) (*baseline.File, error) {
	file, err := baseline.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, explained{err, "", []string{"an example: locktest baseline write latest --because \"no fencing yet\" makes it; --baseline names another"}}
	}
	return file, err
}

func (a *app) baselineShow(f *baselineFlags) error {
	file, err := readBaseline(f.file)
	if err != nil {
		return err
	}
	return a.entries("accepted", file.Accepted)
}

func (a *app) baselinePrune(args []string, f *baselineFlags) error {
	file, err := readBaseline(f.file)
	if err != nil {
		return err
	}
	ids := f.ids
	for _, id := range ids {
		if !slices.ContainsFunc(file.Accepted, func(e baseline.Entry) bool { return e.ID == id }) {
			return usage{fmt.Errorf("baseline prune: %s has no entry %s", f.file, id)}
		}
	}
	if len(ids) == 0 {
		runs, err := a.loadRuns(args, f.dir)
		if err != nil {
			return err
		}
		for _, s := range file.Compare(runs).Resolved {
			ids = append(ids, s.ID)
		}
	}
	gone := file.Remove(ids)
	if len(gone) > 0 {
		if err := file.Write(f.file); err != nil {
			return err
		}
	}
	return a.entries("removed", gone)
}

// entries tells what was accepted or removed.
func (a *app) entries(what string, list []baseline.Entry) error {
	if list == nil {
		list = []baseline.Entry{}
	}
	if a.json {
		return a.print(map[string]any{"schema": baseline.Schema, what: list})
	}
	w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
	for _, e := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.ID, e.Signature, cmp.Or(e.Since, "-"), e.Because)
	}
	fmt.Fprintf(w, "%d %s\n", len(list), what)
	return w.Flush()
}

// loadRuns reads what was kept of runs; none: of the latest. That means all runs of its command.
func (a *app) loadRuns(args []string, root string) ([]baseline.Run, error) {
	if len(args) == 0 {
		args = []string{"latest"}
	}
	var runs []baseline.Run
	seen := map[string]bool{}
	for _, arg := range args {
		path, err := a.findHistory(arg, root)
		if err != nil {
			return nil, err
		}
		dirs := []string{filepath.Dir(path)}
		if filepath.Base(arg) == runner.Latest {
			dirs = together(dirs[0])
		}
		for _, dir := range dirs {
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				dir = real
			}
			if seen[dir] {
				continue // named twice, it is one run
			}
			seen[dir] = true
			r, err := loadRun(dir, arg)
			if err != nil {
				return nil, err
			}
			runs = append(runs, r)
		}
	}
	return runs, nil
}

// together are the folders of all runs that one command made, the oldest first, of which dir is one.
func together(dir string) []string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return []string{dir}
	}
	first := with(real)
	runs, err := listRuns(filepath.Dir(real))
	if err != nil || first == "" {
		return []string{dir}
	}
	var all []string
	for _, r := range runs {
		other := filepath.Join(filepath.Dir(real), r)
		if stamp(r) >= stamp(first) && with(other) == first {
			all = append(all, other)
		}
	}
	return all
}

// stamp is the time with which the name of a run's folder begins.
func stamp(name string) string {
	s, _, _ := strings.Cut(name, "-")
	return s
}

// with is the folder of the first run of the command that made the run of dir; empty: nothing says which.
func with(dir string) string {
	var d struct{ With string }
	if b, err := os.ReadFile(filepath.Join(dir, runner.ResultFile)); err != nil || json.Unmarshal(b, &d) != nil {
		return ""
	}
	return d.With
}

// loadRun reads what was kept of one run, that was named by arg.
func loadRun(dir, arg string) (baseline.Run, error) {
	b, err := os.ReadFile(filepath.Join(dir, runner.ResultFile))
	if err != nil {
		return baseline.Run{}, usage{fmt.Errorf("%s has no result: %w", arg, err)}
	}
	var d reports.Document
	if err := json.Unmarshal(b, &d); err != nil {
		return baseline.Run{}, fmt.Errorf("%s: %w: %w", arg, history.ErrFormat, err)
	}
	r := baseline.Run{Scenario: d.Scenario, Lock: d.Lock, Results: d.Properties, Unexpected: slices.Concat(d.Conditions, d.Known), Whole: d.Error == nil && d.Interrupted == ""}
	for _, fault := range d.Faults {
		r.Faults = append(r.Faults, fault.Fault)
	}
	return r, nil
}
