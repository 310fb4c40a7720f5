package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/scenarios"
)

// choice is what the command line says beside the scenario files.
type choice struct {
	locks  []string
	from   string // a file of advise --json
	on     string
	seed   string
	repeat int
	budget string
	sets   []string
	strict bool
	lock   bool // each scenario has to have one
}

func (c *choice) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&c.locks, "lock", nil, "PROVIDER/STRATEGY: run the scenario against this lock (may be repeated)")
	f.StringVar(&c.from, "lock-from", "", "file of locktest advise --json: the lock, its TTL (unless it would outlast the pauses of the scenario), and what the resource checks")
	f.StringVar(&c.on, "on", "", "where the servers run: auto, embedded, process, docker or external")
	f.StringVar(&c.seed, "seed", "", "seed of everything that is drawn (default: the file's, else drawn and printed)")
	cmd.RegisterFlagCompletionFunc("lock", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, l := range catalog.Locks() {
			names = append(names, l.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	f.StringArrayVar(&c.sets, "set", nil, "KEY=VALUE: override one field of the scenario, as in workload.resource=checks-token (may be repeated)")
}

// settings turns the flags into overrides of one file.
func (c *choice) settings(lock string) ([]scenarios.Setting, error) {
	out, err := lockFrom(c.from)
	if err != nil {
		return nil, err
	}
	for _, s := range []scenarios.Setting{{Flag: "--lock", Key: "lock.use", Value: lock}, {Flag: "--on", Key: "cluster.kind", Value: c.on}, {Flag: "--seed", Key: "run.seed", Value: c.seed}} {
		if s.Value != "" {
			out = append(out, s)
		}
	}
	if c.repeat > 0 {
		out = append(out, scenarios.Setting{Flag: "--repeat", Key: "run.repeat", Value: strconv.Itoa(c.repeat)})
	}
	if c.budget != "" {
		out = append(out, scenarios.Setting{Flag: "--budget", Key: "run.budget", Value: c.budget})
	}
	for _, text := range c.sets {
		s, err := scenarios.ParseSetting("--set", text)
		if err != nil {
			return nil, usage{err}
		}
		out = append(out, s)
	}
	return out, nil
}

// loaded is a scenario and the text that it came from.
type loaded struct {
	scenario *scenarios.Scenario
	source   []byte
}

// load reads all files, each for every lock, and tells every problem of all of them. With an error nothing is to start.
func (a *app) load(files []string, c *choice) ([]loaded, error) {
	var all []loaded
	var problems scenarios.Problems
	flags := map[string]bool{}
	names := catalog.Names()
	for _, name := range files {
		file, source, err := scenarios.Find(name)
		if err != nil {
			return nil, err
		}
		for _, lock := range append([]string{}, orOne(c.locks)...) {
			settings, err := c.settings(lock)
			if err != nil {
				return nil, err
			}
			for _, s := range settings {
				flags[s.Flag] = true
			}
			s, found := scenarios.Load(file, source, names, settings...)
			if own, without, ok := ownLease(file, source, names, settings, found); ok {
				if !a.quiet {
					fmt.Fprintf(a.stderr, "locktest: %s keeps its lease of %v: the advised one, %v, would outlast its pauses, and the run would show nothing about stale holders (--set lock.ttl=%v runs with it)\n", own.Name, own.Lock.TTL, s.Lock.TTL, s.Lock.TTL)
				}
				s, found = own, without
			}
			problems = append(problems, found...)
			if c.lock && s != nil && s.Lock.Use == "" {
				problems = append(problems, scenarios.NoLock(s, source))
			}
			all = append(all, loaded{s, source})
		}
	}
	problems = problems.Unique()
	shown := problems
	if a.quiet && !c.strict {
		shown = problems.Errors()
	}
	scenarios.Render(a.stderr, shown, a.colored(a.stderr))
	if problems.Failed() || c.strict && len(problems) > 0 {
		inFile := func(p scenarios.Problem) bool {
			return (p.Severity == scenarios.Error || c.strict) && !flags[p.Place.File]
		}
		err := told{fmt.Errorf("%s; nothing was started", scenarios.Tally(problems, len(files))), problems, !slices.ContainsFunc(problems, inFile)}
		fmt.Fprintf(a.stderr, "\nlocktest: %v\n", err)
		return nil, err
	}
	return all, nil
}

// ownLease loads a scenario with its own lease where the one of --lock-from would outlast its pauses, and its own doesn't.
func ownLease(file string, source []byte, names scenarios.Names, settings []scenarios.Setting, found scenarios.Problems) (*scenarios.Scenario, scenarios.Problems, bool) {
	short := func(p scenarios.Problem) bool { return p.Code == scenarios.CodeShortPause }
	var rest []scenarios.Setting
	for _, s := range settings {
		switch {
		case s.Key == "lock.ttl" && s.Flag != "--lock-from":
			return nil, nil, false // said on the command line
		case s.Key != "lock.ttl":
			rest = append(rest, s)
		}
	}
	if len(rest) == len(settings) || !slices.ContainsFunc(found, short) || found.Failed() {
		return nil, nil, false
	}
	s, problems := scenarios.Load(file, source, names, rest...)
	return s, problems, s != nil && !problems.Failed() && !slices.ContainsFunc(problems, short)
}

// orOne: without --lock there is one run per file, with the lock that it names.
func orOne(locks []string) []string {
	if len(locks) == 0 {
		return []string{""}
	}
	return locks
}

// completeScenarios offers the scenarios that come with the program, and files.
func completeScenarios(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return scenarios.List(), cobra.ShellCompDirectiveDefault
}
