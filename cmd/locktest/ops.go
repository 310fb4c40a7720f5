package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/reports"
	"github.com/locktest/locktest/runner"
)

// opsCommand is `list ops`: not a list of names, but of what happened in one run.
func (a *app) opsCommand(dir *string) *cobra.Command {
	var filter string
	cmd := &cobra.Command{
		Use:   "ops [RUN|HISTORY]",
		Short: "What happened in a run: each operation with its answer, and each event",
		Long: `List the operations of a run, by default the latest. A filter has terms with blanks between, all of which have to hold: client:c2, op:acquire,
result:unknown (or outcome:unknown), lock:orders, grant:7, token:41, t:12..16 (seconds of the run); another word (OR and the like are none) has to stand in the note, or be a field.`,
		Example: "  locktest list ops latest --filter 'client:c2 t:12..16'\n  locktest list ops 7f3a --filter result:unknown --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := reports.ParseFilter(filter)
			if err != nil {
				return usage{fmt.Errorf("--filter: %w", err)}
			}
			path, err := a.findHistory(append(args, runner.Latest)[0], *dir)
			if err != nil {
				return err
			}
			h, err := history.LoadJSONL(path)
			if err != nil {
				return err
			}
			all, ops := reports.Operations(h), []reports.Operation{}
			if err := f.Check(h, all); err != nil {
				return usage{fmt.Errorf("--filter: %w", err)}
			}
			for _, o := range all {
				if f.Selects(o) {
					ops = append(ops, o)
				}
			}
			if a.json {
				return a.print(map[string]any{"schema": "locktest.list/1", "ops": ops})
			}
			return reports.WriteOperations(a.stdout, ops)
		},
	}
	cmd.Flags().StringVar(&filter, "filter", "", "which ones, such as 'client:c2 op:acquire result:unknown t:12..16'")
	return cmd
}
