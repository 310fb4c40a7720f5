package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// runsDir is where runs' folders lie unless a command is told otherwise.
const runsDir = "runs"

func (a *app) checkCommand() *cobra.Command {
	var dir, cross, memory string
	promise, g := &promise{}, &gate{}
	cmd := &cobra.Command{
		Use:   "check RUN|HISTORY...",
		Short: "Judge what was recorded again",
		Long: `Judge the history of a run (its folder, its id or latest), or a history file: locktest's own, Jepsen's EDN, AtlasDB's JSON,
or a log with one JSON object an operation (docs/history.md). A run is compared with what its scenario expects; of a history
alone every property has to be held, which is told. What the lock promises has to be said for histories from elsewhere: --expiry and the like.

A history that was cut off, because the harness was killed, is judged as far as it goes.`,
		Example: "  locktest check runs/latest\n  locktest check 7f3a\n  locktest check locks.log --expiry lease --ttl 2s --clock-error 5ms",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cross != "on" && cross != "off" {
				return usage{fmt.Errorf("--cross-check %s: expected on or off", cross)}
			}
			if err := g.prepare(a); err != nil {
				return err
			}
			limit, err := parseMemory(memory)
			if err != nil {
				return usage{fmt.Errorf("--memory: %w", err)}
			}
			var outcomes []*runner.Outcome
			for _, arg := range args {
				o, err := a.check(cmd.Context(), arg, dir, cross == "on", promise, checker.Options{Memory: limit})
				if err != nil {
					return err
				}
				g.known.Excuse(o)
				if !a.json {
					a.tell(o)
				}
				outcomes = append(outcomes, o)
			}
			return a.finish(outcomes, g)
		},
	}
	cmd.Flags().StringVar(&dir, "run-dir", runsDir, "folder of the runs' folders")
	cmd.Flags().StringVar(&cross, "cross-check", "on", "off: leave the second engine out")
	cmd.Flags().StringVar(&memory, "memory", "", "what judging may take beyond the history, such as 2GiB; with more the verdict is inconclusive (default: no limit)")
	promise.flags(cmd)
	g.flags(cmd, a)
	return cmd
}

// parseMemory reads a number of bytes with a unit; nothing is 0.
func parseMemory(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	for unit, shift := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.Atoi(strings.TrimSpace(number))
			if err == nil && n > 0 && n < 1<<20 {
				return n << shift, nil
			}
		}
	}
	return 0, fmt.Errorf("%q is not a size such as 512MiB or 2GiB", text)
}

func (a *app) check(ctx context.Context, arg, root string, cross bool, p *promise, limits checker.Options) (*runner.Outcome, error) {
	path, err := a.findHistory(arg, root)
	if err != nil {
		return nil, err
	}
	h, err := p.load(path)
	if err != nil {
		return nil, err
	}
	o := &runner.Outcome{Run: h.Header.Run, Seed: h.Header.Seed, Began: h.Header.Began, Kind: h.Header.Cluster, Separate: h.Header.Separate, Scenario: &scenarios.Scenario{Name: h.Header.Scenario}}
	if filepath.Base(path) == runner.HistoryFile {
		o.Dir = filepath.Dir(path)
		if s := a.expectations(o.Dir); s != nil {
			o.Scenario = s
		}
	}
	if _, err := os.Stat(filepath.Join(o.Dir, runner.ResolvedFile)); o.Scenario.Name != "" && (o.Dir == "" || errors.Is(err, fs.ErrNotExist)) {
		fmt.Fprintf(a.stderr, "locktest: %s has no %s beside it: what the scenario %s expects and accepts is not applied\n", path, runner.ResolvedFile, o.Scenario.Name)
	}
	o.Again = again(arg, root, p)
	runner.Judge(ctx, o, h, checker.All(), catalog.CrossCheck(cross, catalog.Self()), limits)
	return o, nil
}

// again is the command that judges the same once more.
func again(arg, root string, p *promise) string {
	words := []string{"locktest", "check", arg}
	if strings.HasPrefix(arg, "-") {
		words[2] = "./" + arg
	}
	if _, err := os.Stat(arg); err != nil && root != runsDir {
		words = append(words, "--run-dir", root)
	}
	words = append(words, p.said()...)
	for i, w := range words {
		words[i] = shellWord(w)
	}
	return strings.Join(words, " ")
}

// shellWord is a word as a shell takes it, in quotes where something in it has a meaning there.
func shellWord(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=+,./:@%", r) || r >= 0xa0 && unicode.IsLetter(r)
	}
	if w != "" && !strings.ContainsFunc(w, func(r rune) bool { return !plain(r) }) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// expectations reads the scenario of a run; without one every property has to be held.
func (a *app) expectations(dir string) *scenarios.Scenario {
	file := filepath.Join(dir, runner.ResolvedFile)
	src, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		s, problems := scenarios.Load(file, src, catalog.Names())
		if s != nil {
			return s
		}
		err = fmt.Errorf("%s", scenarios.Tally(problems, 1))
	}
	fmt.Fprintf(a.stderr, "locktest: %s can't be read, so every property has to be held: %v\n", file, err)
	return nil
}

// findHistory finds the file that RUN or HISTORY means, and says so where that run goes on.
func (a *app) findHistory(arg, root string) (string, error) {
	path, err := historyOf(arg, root)
	if err == nil && filepath.Base(path) == runner.HistoryFile && runner.GoesOn(filepath.Dir(path)) {
		fmt.Fprintf(a.stderr, "locktest: the run %s goes on: this is what was recorded until now\n", filepath.Base(filepath.Dir(path)))
	}
	return path, err
}

func historyOf(arg, root string) (string, error) {
	if info, err := os.Stat(arg); err == nil {
		if !info.IsDir() {
			return arg, nil
		}
		return historyIn(arg)
	}
	runs, err := listRuns(root)
	if err != nil {
		return "", err
	}
	if filepath.Base(arg) == runner.Latest {
		if dir := filepath.Dir(arg); dir != "." {
			root = dir
		}
		return latestIn(root)
	}
	var found []string
	for _, r := range runs {
		if id := r[strings.LastIndex(r, "-")+1:]; r == arg || strings.HasPrefix(id, arg) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return "", explained{usage{fmt.Errorf("there is no file and no run %q (looked in %s, which has %s)", arg, root, number(len(runs), "run"))}, "", []string{"locktest list runs --run-dir " + root, "locktest run quickstart makes one"}}
	case 1:
		return historyIn(filepath.Join(root, found[0]))
	}
	return "", usage{fmt.Errorf("%q can mean %d runs: %s", arg, len(found), strings.Join(found, ", "))}
}

// latestIn is the run that ended last; where nothing says which that is, since none ended in peace, the last that is over.
func latestIn(root string) (string, error) {
	if path, err := historyIn(filepath.Join(root, runner.Latest)); err == nil {
		return path, nil
	}
	runs, err := listRuns(root)
	if err != nil {
		return "", err
	}
	fix := []string{"locktest run quickstart makes one; locktest list runs --run-dir " + root + " names those that there are"}
	for _, r := range slices.Backward(runs) {
		dir := filepath.Join(root, r)
		if runner.GoesOn(dir) {
			fix = []string{r + " goes on: wait for its end, or give its name to see what it has recorded until now"}
			continue
		}
		if path, err := historyIn(dir); err == nil {
			return path, nil
		}
	}
	return "", explained{usage{fmt.Errorf("there is no latest run: none of those in %s has ended", root)}, "", fix}
}

func historyIn(dir string) (string, error) {
	path := filepath.Join(dir, runner.HistoryFile)
	if _, err := os.Stat(path); err != nil {
		return "", usage{fmt.Errorf("%s has no %s: it is no run's folder, or nothing was recorded in it yet", dir, runner.HistoryFile)}
	}
	return path, nil
}

// listRuns names the folders of runs, the oldest first.
func listRuns(root string) ([]string, error) {
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var runs []string
	for _, e := range entries {
		if e.IsDir() {
			runs = append(runs, e.Name())
		}
	}
	slices.Sort(runs) // by their time, with which the names begin
	return runs, nil
}
