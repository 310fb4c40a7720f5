package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/clients"
	"github.com/locktest/locktest/reports"
	"github.com/locktest/locktest/scenarios"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "schema [scenario|client]",
		Short:     "Print a JSON Schema: of scenario files (for editors), or of the client protocol",
		Example:   "  locktest schema scenario",
		ValidArgs: []string{"scenario", "client"},
		Args:      cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 || args[0] == "scenario":
				fmt.Fprintf(a.stdout, "%s", scenarios.Schema(catalog.Names()))
			case args[0] == "client":
				fmt.Fprintf(a.stdout, "%s", clients.Schema())
			default:
				return usage{fmt.Errorf("schema %s: expected scenario or client", args[0])}
			}
			return nil
		},
	}
}

// clientCommand is only what a person sees: without flags the program is a client before it parses anything.
func (a *app) clientCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "client",
		Short: "Speak the client protocol on standard input and output",
		Long: `Speak the client protocol on standard input and output, one JSON object a line: how locktest runs each client of the locks that
it comes with. The first line has to be a hello:

  {"id":0,"op":"hello","v":1,"client":"c1","options":{"lock":"redis/single","servers":["127.0.0.1:6379"]}}
  {"id":1,"op":"acquire","grant":1,"lock":"orders","ttl_ms":2000,"wait_ms":0}`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return nil },
	}
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print versions of the program, its schemas and its platform",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return a.version() },
	}
}

// version prints them.
func (a *app) version() error {
	v := map[string]string{"schema": "locktest.version/1", "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
	for k, s := range catalog.Versions() {
		v[k] = s
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
				v[s.Key] = s.Value
			}
		}
	}
	if a.json {
		e := json.NewEncoder(a.stdout)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
	fmt.Fprintf(a.stdout, "locktest %s (%s, %s)\n", v["locktest"], v["go"], v["platform"])
	if revision := v["vcs.revision"]; revision != "" {
		fmt.Fprintf(a.stdout, "commit   %s (modified: %s)\n", revision, v["vcs.modified"])
	}
	fmt.Fprintf(a.stdout, "schemas  %s, %s, %s\n", v["history"], v["client"], reports.ResultSchema)
	return nil
}
