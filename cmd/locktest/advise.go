package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/locktest/locktest/advise"
	"github.com/locktest/locktest/docs/results"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

func (a *app) adviseCommand() *cobra.Command {
	var q advise.Answers
	var section, pause, language string
	cmd := &cobra.Command{
		Use:   "advise",
		Short: "Which lock, with which lease, and whether its token has to be checked",
		Long: `Say what is there and what the lock has to stand, and get the lock, the lease, whether tokens have to be checked, why, what it
does not give, what was measured of it, and the scenario that tests it. With --json, run --lock-from FILE takes the answer.

On a terminal, and without answers among the flags, the questions are asked one after another, and on standard error where the
output goes elsewhere. --code prints nothing but a
program of at most twenty lines that takes the lock as it should be taken (gofmt -w spreads out one in Go).

The lease is counted from what was measured: half as much again as --section (the hold that 999 of 1000 don't exceed) and --pause
together, and --drift more. What was not said is assumed, and warned of.`,
		Example: `  locktest advise --have redis,postgres --instances 4 --section 200ms --pause 2s --writes
  locktest advise --have redis --section 200ms --pause 2s --code python > job.py
  locktest advise --have etcd --instances 3 --exclusive --json > lock.json; locktest run matrix/contention --lock-from lock.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			for text, to := range map[*string]*time.Duration{&section: &q.Section, &pause: &q.Pause} {
				if *text == "" {
					continue
				}
				if *to, err = time.ParseDuration(*text); err != nil {
					return usage{fmt.Errorf("%q is not a duration such as 200ms", *text)}
				}
			}
			switch {
			case q.RedisNodes < 1:
				return usage{fmt.Errorf("--redis-nodes %d: expected at least 1", q.RedisNodes)}
			case section != "" && q.Section == 0:
				return usage{fmt.Errorf("--section %s: a section takes some time; leave it out where it is not known", section)}
			}
			q.Steady = pause != "" && q.Pause == 0
			q.Blind = cmd.Flags().Changed("conditions") && !q.Conditions
			return a.advise(cmd, q, language)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&q.Have, "have", nil, "what is there: "+strings.Join(advise.Stores(), ", ")+" (alone it is refused, with what to do instead)")
	f.IntVar(&q.Instances, "instances", 2, "how many compete; 1: one process")
	f.StringVar(&section, "section", "", "how long the critical section takes, 999 of 1000 times, such as 200ms")
	f.StringVar(&pause, "pause", "", "the longest that a process is known to stand still, such as 2s; 0: never")
	f.Float64Var(&q.Drift, "drift", advise.Drift, "by which the rates of clocks may differ")
	f.BoolVar(&q.Writes, "writes", false, "the section writes to shared storage")
	f.BoolVar(&q.Conditions, "conditions", false, "that storage can compare a version, or a token, as it writes; =false: it is known that it can't")
	f.BoolVar(&q.Exclusive, "exclusive", false, "two at once would be wrong, not only a waste")
	f.BoolVar(&q.Failover, "failover", false, "the lock has to survive the loss of a server")
	f.IntVar(&q.RedisNodes, "redis-nodes", 1, "independent Redis servers")
	f.BoolVar(&q.Pooled, "pooled", false, "PostgreSQL is behind a pooler in transaction mode")
	f.BoolVar(&q.ReadHeavy, "read-heavy", false, "most sections only read")
	f.BoolVar(&q.Retried, "retried", false, "the work is tried again after an unknown outcome")
	f.BoolVar(&q.Nested, "nested", false, "sections take another lock inside")
	f.StringVar(&language, "code", "", "print a program that takes the lock, and nothing else: "+strings.Join(advise.Languages(), ", "))
	return cmd
}

// advise tells what to take by the answers of the flags, or of whoever sits at the terminal.
func (a *app) advise(cmd *cobra.Command, q advise.Answers, language string) (err error) {
	screen := a.stdout
	if a.json || !terminal(screen) {
		screen = a.stderr // what is asked for goes elsewhere
	}
	asked := !answered(cmd) && terminal(screen) && term.IsTerminal(int(os.Stdin.Fd()))
	if asked {
		q, err = a.ask(cmd.Context(), screen)
		if by := runner.Interrupt(""); errors.As(err, &by) {
			a.exit = signalStatus(string(by))
			return nil
		}
		if err != nil {
			return err
		}
	}
	c, err := advise.Choose(q)
	if err != nil {
		return usage{fmt.Errorf("advise: %w", err)}
	}
	code := ""
	if language != "" {
		if code, err = advise.Code(c, language); err != nil {
			return usage{fmt.Errorf("advise: --code: %w", err)}
		}
	}
	if err := a.tellAdvice(c, code); err != nil || !asked || a.json {
		return err
	}
	_, err = fmt.Fprintf(screen, "\nThe same again\n  locktest advise %s\n", strings.Join(advise.Flags(q), " "))
	return err
}

// answered says whether a flag answers one of the questions.
func answered(cmd *cobra.Command) bool {
	found := false
	cmd.LocalNonPersistentFlags().Visit(func(f *pflag.Flag) { found = found || f.Name != "code" })
	return found
}

// ask asks on the screen, and ends with a signal or the last answer.
func (a *app) ask(ctx context.Context, screen io.Writer) (advise.Answers, error) {
	ctx, end := a.signals(ctx, 0)
	defer end()
	type answer struct {
		advise.Answers
		err error
	}
	done := make(chan answer, 1)
	go func() {
		q, err := advise.Ask(os.Stdin, screen)
		done <- answer{q, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(screen)
		return advise.Answers{}, context.Cause(ctx)
	case got := <-done:
		if errors.Is(got.err, advise.ErrEnded) {
			return got.Answers, usage{fmt.Errorf("advise: %w", got.err)}
		}
		return got.Answers, got.err
	}
}

// advice is a choice, with what the comparison that comes with the program has seen of its lock.
type advice struct {
	advise.Choice
	Measured []string `json:"measured,omitempty"`
	Code     string   `json:"code,omitempty"`
}

func (a *app) tellAdvice(c advise.Choice, code string) error {
	if code != "" && !a.json {
		_, err := fmt.Fprint(a.stdout, code)
		return err
	}
	matrix, err := results.Matrix()
	if err != nil {
		return err
	}
	measured := matrix.Evidence(c.Lock)
	if a.json {
		return a.print(advice{c, measured, code})
	}
	if measured == nil {
		measured = []string{"nothing: " + c.Lock + " is not in the comparison that comes with this program"}
	}
	ttl := "none"
	if c.TTL > 0 {
		ttl = c.TTL.String()
	}
	safety := map[string]string{
		advise.Required: "fencing token required, checked where the data is", advise.Recommended: "fencing token recommended, beside the storage's own check",
		advise.None: "no fencing token",
	}[c.Fencing]
	if c.Fencing == advise.Required && c.Resource != "checks-token" {
		safety = "fencing token required, and the storage can't check one: see Beware"
	}
	if c.Resource == "checks-version" {
		safety = "versions compared by the storage"
	}
	fmt.Fprintf(a.stdout, "Provider: %s\nStrategy: %s\nTTL: %s\nSafety: %s\n", c.Provider, c.Strategy, ttl, safety)
	for _, part := range []struct {
		title string
		lines []string
	}{{"Why", c.Why}, {"What it does not give", c.Lacks}, {"Beware", c.Warnings}, {"Measured", measured}} {
		if len(part.lines) == 0 {
			continue
		}
		fmt.Fprintf(a.stdout, "\n%s\n", part.title)
		for _, l := range part.lines {
			fmt.Fprintf(a.stdout, "  - %s\n", l)
		}
	}
	test := fmt.Sprintf("locktest run %s --lock %s", c.Scenario, c.Lock)
	if c.Resource == "checks-version" {
		test += " --set workload.resource=checks-version"
	}
	if c.TTL > 0 && strings.Contains(c.Scenario, "holder-paused") {
		test += "\n  (with its lease of 1 s, which its pauses outlast: a longer one breaks in the same way, and takes longer to)"
	}
	_, err = fmt.Fprintf(a.stdout, "\nTest it\n  %s\n", test)
	return err
}

// lockFrom reads what advise --json wrote, as settings of a scenario.
func lockFrom(file string) ([]scenarios.Setting, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var c advise.Choice
	if err := json.Unmarshal(b, &c); err != nil || c.Lock == "" {
		return nil, usage{errors.Join(fmt.Errorf("--lock-from %s: it is not what locktest advise --json prints", file), err)}
	}
	settings := []scenarios.Setting{{Flag: "--lock-from", Key: "lock.use", Value: c.Lock}}
	if c.TTL > 0 {
		settings = append(settings, scenarios.Setting{Flag: "--lock-from", Key: "lock.ttl", Value: c.TTL.String()})
	}
	if c.Resource != "" {
		settings = append(settings, scenarios.Setting{Flag: "--lock-from", Key: "workload.resource", Value: c.Resource})
	}
	return settings, nil
}
