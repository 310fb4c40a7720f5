package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locktest/locktest/catalog"
)

func (a *app) doctorCommand() *cobra.Command {
	var need []string
	var clean bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can run, and what mends what it lacks; remove what dead runs have left",
		Long: `Say what this machine can run: each server by each kind of cluster, and each fault that needs something. A line has the name, and
whether it is there; below what is missing stands what mends it.

With --clean it removes what runs have left whose harness was killed with its supervisor: processes, containers, disks and folders. What
belongs to a run that lives isn't touched.`,
		Example: `  locktest doctor
  locktest doctor --need redis/process --need fault/clock    exit status 69 if one of them is missing
  locktest doctor --clean`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if clean {
				return a.clean(cmd.Context())
			}
			return a.doctor(cmd.Context(), need)
		},
	}
	cmd.Flags().StringArrayVar(&need, "need", nil, "NAME: exit status 69 if this is missing (may be repeated)")
	cmd.Flags().BoolVar(&clean, "clean", false, "remove what dead runs have left on this machine")
	return cmd
}

func (a *app) doctor(ctx context.Context, need []string) error {
	found := catalog.Doctor(ctx)
	missing, err := lacking(found, need)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		a.exit = exitEnvironment
	}
	if a.json {
		return a.print(struct {
			Schema  string            `json:"schema"`
			Exit    int               `json:"exit"`
			Found   []catalog.Finding `json:"found"`
			Missing []string          `json:"missing"` // of what was asked for
		}{"locktest.doctor/1", a.exit, found, missing})
	}
	for _, f := range found {
		if a.quiet && !slices.Contains(missing, f.Name) {
			continue
		}
		a.tellFinding(f)
	}
	if len(missing) > 0 {
		fmt.Fprintf(a.stdout, "\nmissing: %s\n", strings.Join(missing, ", "))
	}
	return nil
}

func (a *app) tellFinding(f catalog.Finding) {
	state := "ok"
	if !f.OK {
		state = "missing"
	}
	fmt.Fprintf(a.stdout, "%-8s %-20s %s\n", state, f.Name, f.About)
	for i, fix := range f.Fix {
		word := "mend: "
		if i > 0 {
			word = "or:   "
		}
		fmt.Fprintf(a.stdout, "%-8s %-20s   %s%s\n", "", "", word, fix)
	}
}

// lacking are those of need that aren't there.
func lacking(found []catalog.Finding, need []string) (missing []string, err error) {
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = f.Name
	}
	missing = []string{}
	for _, n := range need {
		i := slices.Index(names, n)
		switch {
		case i < 0:
			return nil, usage{fmt.Errorf("--need %s: expected one of %s", n, strings.Join(names, ", "))}
		case !found[i].OK:
			missing = append(missing, n)
		}
	}
	return missing, nil
}

// cleanLimit is how long the removal of everything may take.
const cleanLimit = 2 * time.Minute

func (a *app) clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cleanLimit)
	defer cancel()
	removed, err := catalog.Clean(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.print(struct {
			Schema  string   `json:"schema"`
			Exit    int      `json:"exit"`
			Removed []string `json:"removed"`
		}{"locktest.clean/1", 0, append([]string{}, removed...)})
	}
	for _, r := range removed {
		fmt.Fprintln(a.stdout, "removed", r)
	}
	if len(removed) == 0 && !a.quiet {
		fmt.Fprintln(a.stdout, "nothing was left by dead runs")
	}
	return nil
}
