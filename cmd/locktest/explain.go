package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/reports"
)

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain WORD",
		Short: "Explain a property, a verdict, a finding, a fault, an error code, a lock, a key of scenario files, or a word of the field",
		Long: `Explain a word, offline: properties, verdicts, kinds of finding, faults, error codes, locks, workloads, keys of
scenario files (run.settle, faults[1].for), what a run prints, and the words of the field with their synonyms. Without a word it lists all that there are.`,
		Example: "  locktest explain fencing token\n  locktest explain stale-write\n  locktest explain LT105",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, p := range catalog.Pages() {
				names = append(names, p.Name)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.words()
			}
			return a.explain(strings.Join(args, " "))
		},
	}
}

func (a *app) explain(word string) error {
	pages, near := catalog.Explain(word)
	if len(pages) == 0 {
		err := usage{fmt.Errorf("there is no page about %q", word)}
		fix := []string{"locktest explain lists all words"}
		if len(near) > 0 {
			fix = []string{"did you mean " + strings.Join(near, ", ") + "?"}
		}
		return explained{err, "", fix}
	}
	if a.json {
		return a.print(map[string]any{"schema": "locktest.explain/1", "pages": pages})
	}
	for i, p := range pages {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		article := reports.Article{Title: p.Name, Kind: p.Kind, Also: p.Also, Text: p.Text, See: p.See}
		if err := article.Write(a.stdout, a.style(a.stdout)); err != nil {
			return err
		}
	}
	return nil
}

// words lists all pages by kind.
func (a *app) words() error {
	if a.json {
		return a.print(map[string]any{"schema": "locktest.explain/1", "pages": catalog.Pages()})
	}
	by := map[string][]string{}
	kinds := []string{"property", "verdict", "finding", "strength", "term", "fault", "workload", "value", "metric", "key", "code", "lock"}
	for _, p := range catalog.Pages() {
		by[p.Kind] = append(by[p.Kind], p.Name)
	}
	var err error
	for _, kind := range kinds {
		article := reports.Article{Title: kind, Text: []string{strings.Join(by[kind], ", ")}}
		err = errors.Join(err, article.Write(a.stdout, a.style(a.stdout)))
	}
	return err
}
