// Command locktest tests distributed locks: it runs them under faults and judges what they did.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/locktest/locktest/baseline"
	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/clients"
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/internal/access"
	"github.com/locktest/locktest/reports"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// Exit statuses beside those of a run that was carried out.
const (
	exitUsage       = 64
	exitScenario    = 65
	exitEnvironment = 69
	exitInternal    = 70
	exitAdapter     = 76
	exitSkip        = 125 // of git bisect
	exitInterrupt   = 130
	exitTerminate   = 143
)

func main() {
	if status, done := catalog.Main(os.Args); done {
		os.Exit(status)
	}
	os.Exit(execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// execute is main with everything that it touches passed in.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	a := &app{stdout: stdout, stderr: stderr, page: reports.HTML, json: slices.Contains(args, "--json"), bisect: asksBisect(args)} // also where flags can't be read
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return a.exit
	}
	return a.fail(mend(cmd, err))
}

// asksBisect is for where flags can't be read.
func asksBisect(args []string) bool {
	i := slices.Index(args, "--exit-code")
	return slices.Contains(args, "--exit-code=bisect") || i >= 0 && i+1 < len(args) && args[i+1] == "bisect"
}

// app is one call of the command.
type app struct {
	stdout, stderr io.Writer
	exit           int
	page           func(reports.HTMLOptions) reports.Reporter

	color      string // auto, always, never
	ascii      bool
	quiet      bool
	verbose    bool
	noProgress bool
	json       bool
	bisect     bool // statuses are those that git bisect takes
	piped      bool // a report has standard output for itself
	dir        string

	secrets []access.Redactor
}

func (a *app) root() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "locktest",
		Short: "Tests distributed locks: are they safe, under which faults do they break, does fencing help",
		Long: `locktest runs a distributed lock under a concurrent workload, harms its holder, its links and its servers meanwhile, and
judges from the recorded history whether the lock kept its promises.`,
		Example: `  locktest run quickstart                              ten seconds, nothing to install
  locktest run scenarios/redlock-partition.yaml
  locktest run pause-holder --lock redis/single --set workload.resource=ignores-token
  locktest check runs/latest                           judge what was recorded again
  locktest report latest --open                        its page in a browser`,
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.prepare() },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return a.version()
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolVar(&version, "version", false, "versions of the program, its schemas and its platform, as locktest version prints them")
	f := root.PersistentFlags()
	f.StringVar(&a.color, "color", "auto", "auto, always or never")
	f.BoolVar(&a.ascii, "ascii", false, "no character beyond ASCII")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "the verdict line and errors only")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "what the harness does, on standard error")
	f.BoolVar(&a.noProgress, "no-progress", false, "plain lines instead of a moving display")
	f.BoolVar(&a.json, "json", false, "one JSON document on standard output, also on failure")
	f.StringVarP(&a.dir, "dir", "C", "", "work in this folder")
	root.AddCommand(a.runCommand(), a.checkCommand(), a.reportCommand(), a.validateCommand(), a.listCommand(), a.schemaCommand(), a.clientCommand(), a.versionCommand(), a.doctorCommand(), a.compareCommand(), a.adviseCommand(), a.baselineCommand(), a.explainCommand())
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	polite(root)
	return root
}

func (a *app) prepare() error {
	switch a.color {
	case "auto", "always", "never":
	default:
		return usage{fmt.Errorf("--color %s: expected auto, always or never", a.color)}
	}
	if a.dir != "" {
		if err := os.Chdir(a.dir); err != nil {
			return usage{fmt.Errorf("--dir: %w", err)}
		}
	}
	return nil
}

// told is about scenario files whose problems are on the screen already.
type told struct {
	error
	problems scenarios.Problems
	flags    bool // no file is wrong, only values of flags
}

// fail tells err and returns its exit status.
func (a *app) fail(err error) int {
	status := a.coded(statusOf(err))
	if a.json {
		a.documentOf(err, status)
		return status
	}
	if !errors.As(err, new(told)) {
		reports.WriteError(a.stderr, explain(err), a.style(a.stderr))
	}
	return status
}

// unwritten is about a file that the command was to write.
type unwritten struct{ error }

func (u unwritten) Unwrap() error { return u.error }

// explained is an error with what a person needs beside its message.
type explained struct {
	error
	code string
	fix  []string
}

func (e explained) Unwrap() error { return e.error }

// Tell is how the error is told to people.
func (e explained) Tell() (code, message string, details, fix []string) {
	return e.code, e.Error(), nil, e.fix
}

// explain adds what the command knows about errors of packages that don't know the command.
func explain(err error) error {
	var missing *scenarios.NotFound
	switch {
	case errors.As(err, new(explained)):
		return err
	case errors.As(err, &missing):
		fix := []string{"locktest list scenarios"}
		if missing.Suggest != "" {
			fix = []string{"did you mean " + missing.Suggest + "?"}
		}
		return explained{err, "", fix}
	case errors.Is(err, history.ErrFormat):
		return explained{err, catalog.CodeHistory, nil}
	case errors.Is(err, baseline.ErrFormat):
		return explained{err, catalog.CodeBaseline, nil}
	}
	return err
}

// statusOf is the exit status of a command that could not do what it was asked for.
func statusOf(err error) int {
	var (
		environment *cluster.Error
		adapter     *clients.AdapterError
		missing     *scenarios.NotFound
		power       *runner.PowerError
		problems    told
	)
	switch {
	case (errors.As(err, new(unwritten)) || errors.Is(err, runner.ErrFolder)) && !misplaced(err):
		return exitEnvironment
	case errors.As(err, &problems) && problems.flags:
		return exitUsage
	case errors.As(err, &environment), errors.As(err, new(runner.Interrupt)), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EDQUOT):
		return exitEnvironment
	case errors.As(err, &adapter):
		return exitAdapter
	case errors.As(err, &power), errors.As(err, new(told)), errors.Is(err, history.ErrFormat), errors.Is(err, baseline.ErrFormat):
		return exitScenario
	case errors.As(err, &missing), errors.As(err, new(usage)), errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission), errors.Is(err, syscall.ENOTDIR), errors.Is(err, os.ErrExist):
		return exitUsage
	}
	return exitInternal
}

// misplaced says that no machine could write there: the command line names a wrong place.
func misplaced(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) || errors.Is(err, os.ErrExist)
}

// signalStatus is the status of a command that a signal ended; 0 where it was no signal.
func signalStatus(name string) int {
	switch name {
	case "SIGINT", "SIGHUP":
		return exitInterrupt
	case "SIGTERM":
		return exitTerminate
	}
	return 0
}
