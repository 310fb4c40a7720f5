package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) validateCommand() *cobra.Command {
	c := &choice{}
	cmd := &cobra.Command{
		Use:     "validate SCENARIO...",
		Short:   "Check scenario files, start nothing",
		Example: "  locktest validate scenarios/*.yaml\n  locktest validate my.yaml --strict",
		Args:    cobra.MinimumNArgs(1),

		ValidArgsFunction: completeScenarios,
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := a.load(args, c)
			if err != nil {
				return err
			}
			if a.json {
				return a.print(map[string]any{"schema": "locktest.validation/1", "valid": true, "files": len(args)})
			}
			if !a.quiet {
				for _, l := range all {
					fmt.Fprintf(a.stdout, "%s is valid\n", l.scenario.File)
				}
			}
			return nil
		},
	}
	c.flags(cmd)
	cmd.Flags().BoolVar(&c.strict, "strict", false, "warnings are errors")
	return cmd
}
