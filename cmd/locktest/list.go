package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/reports"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// item is a line of a list.
type item struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

func (a *app) listCommand() *cobra.Command {
	var dir string
	lists := map[string]func() ([]item, error){
		"scenarios": listScenarios,
		"locks":     func() ([]item, error) { return listLocks(), nil },
		"faults": func() ([]item, error) {
			return fromNames(catalog.Names().Faults, func(f scenarios.FaultName) string { return f.About }), nil
		},
		"workloads": func() ([]item, error) {
			return fromNames(catalog.Names().Workloads, func(w scenarios.WorkloadName) string { return w.About }), nil
		},
		"properties": func() ([]item, error) {
			return fromNames(catalog.Names().Properties, func(p scenarios.PropertyName) string { return p.About }), nil
		},
		"clusters": func() ([]item, error) {
			return fromNames(catalog.Names().Clusters, func(c scenarios.ClusterName) string { return c.About }), nil
		},
		"metrics": func() ([]item, error) {
			return fromNames(catalog.Names().Metrics, func(m scenarios.MetricName) string { return m.About }), nil
		},
		"codes": func() ([]item, error) { return listCodes(), nil },
		"runs": func() ([]item, error) {
			runs, err := listRuns(dir)
			var items []item
			for _, r := range runs {
				items = append(items, item{Name: r, About: aboutRun(filepath.Join(dir, r))})
			}
			return items, err
		},
	}
	what := slices.Sorted(maps.Keys(lists))
	cmd := &cobra.Command{
		Use:       "list [ops|" + strings.Join(what, "|") + "]",
		Short:     "What there is: scenarios, locks, faults, …",
		Example:   "  locktest list locks\n  locktest list ops latest",
		ValidArgs: what,
		Args:      cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"scenarios"}
			}
			list, ok := lists[args[0]]
			if !ok {
				all := append([]string{"ops"}, what...)
				err := usage{fmt.Errorf("list %s: expected one of %s", args[0], strings.Join(all, ", "))}
				if near := scenarios.Nearest(args[0], all); near != "" {
					return explained{err, "", []string{"did you mean locktest list " + near + "?"}}
				}
				return err
			}
			items, err := list()
			if err != nil {
				return err
			}
			return a.items(args[0], items)
		},
	}
	cmd.PersistentFlags().StringVar(&dir, "run-dir", "runs", "folder of the runs' folders")
	cmd.AddCommand(a.opsCommand(&dir))
	return cmd
}

func (a *app) items(what string, items []item) error {
	if a.json {
		return a.print(map[string]any{"schema": "locktest.list/1", what: items})
	}
	w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
	for _, i := range items {
		fmt.Fprintf(w, "%s\t%s\n", i.Name, i.About)
	}
	return w.Flush()
}

func fromNames[V any](m map[string]V, about func(V) string) []item {
	var items []item
	for _, name := range slices.Sorted(maps.Keys(m)) {
		items = append(items, item{name, about(m[name])})
	}
	return items
}

func listScenarios() ([]item, error) {
	var items []item
	for _, name := range scenarios.List() {
		file, src, err := scenarios.Find(name)
		if err != nil {
			return nil, err
		}
		s, problems := scenarios.Load(file, src, catalog.Names())
		if s == nil {
			return nil, fmt.Errorf("%s: %s", file, scenarios.Tally(problems, 1))
		}
		about := s.About
		if s.Lock.Use == "" {
			about += " (any lock: --lock)"
		}
		items = append(items, item{name, about})
	}
	return items, nil
}

func listLocks() []item {
	var items []item
	for _, l := range catalog.Locks() {
		about := l.About
		if l.Broken() {
			about = "wrong on purpose: " + about + "; caught by " + l.Caught
		}
		items = append(items, item{l.Name, about})
	}
	return items
}

func listCodes() []item {
	var items []item
	for _, c := range catalog.Codes() {
		items = append(items, item{c.Code, c.About})
	}
	return items
}

// aboutRun is what a run's result says in short.
func aboutRun(dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, runner.ResultFile))
	switch {
	case runner.GoesOn(dir):
		return "it goes on"
	case err != nil && !recordedIn(dir):
		return "nothing was recorded: no run has begun here"
	case err != nil:
		return "no result: it was killed before it had one; locktest check judges what it recorded"
	}
	var r reports.Document
	if err := json.Unmarshal(b, &r); err != nil {
		return "its result can't be read: " + err.Error()
	}
	switch {
	case r.Word == "" && r.Interrupted != "":
		return "ended by " + r.Interrupted + " before it began, " + r.Lock
	case r.Word == "" && r.Error != nil:
		return "it could not run, " + r.Lock + ": " + r.Error.Message
	}
	about := fmt.Sprintf("%s, %s, %.1f s", r.Word, r.Lock, r.Duration.Seconds())
	if r.Error != nil {
		about += ", error: " + r.Error.Message
	}
	return about
}

// recordedIn says whether a folder has a history.
func recordedIn(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, runner.HistoryFile))
	return err == nil
}
