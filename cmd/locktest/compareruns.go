package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/locktest/locktest/compare"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/reports"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// recordedRuns are the folders that the arguments of compare mean; nil: they are scenarios. A mixture of both is a mistake, and so is
// a run that has no result.
func recordedRuns(args []string, root string) ([]string, error) {
	var dirs, others []string
	for _, arg := range args {
		dir, ok := runFolder(arg, root)
		if !ok && missingRun(arg, root) {
			return nil, explained{usage{fmt.Errorf("compare: there is no run %s", arg)}, "", []string{"locktest list runs names those that there are"}}
		}
		if !ok {
			others = append(others, arg)
			continue
		}
		dirs = append(dirs, dir)
	}
	if len(dirs) > 0 && len(others) > 0 {
		return nil, explained{usage{fmt.Errorf("compare: %s is a recorded run, and %s isn't: all are runs, or all are scenarios", dirs[0], others[0])}, "",
			[]string{"an example: locktest compare runs/A runs/B", "an example: locktest compare --lock redis/single,etcd/lease scenarios/matrix/*.yaml"}}
	}
	for _, dir := range dirs {
		_, err := os.Stat(filepath.Join(dir, runner.ResultFile))
		_, noHistory := os.Stat(filepath.Join(dir, runner.HistoryFile))
		switch {
		case runner.GoesOn(dir):
			return nil, usage{fmt.Errorf("compare: the run %s goes on: wait for its end", dir)}
		case err != nil && noHistory != nil:
			return nil, usage{fmt.Errorf("compare: %s is no run's folder: it has no %s", dir, runner.ResultFile)}
		case err != nil:
			return nil, explained{usage{fmt.Errorf("compare: the run %s did not come to its end, and has no result", dir)}, "", []string{"locktest check " + dir + " judges what it recorded"}}
		}
	}
	return dirs, nil
}

// runFolder is the folder of the run that arg means, if it means one: a folder, or what is no scenario and has the id of a run.
func runFolder(arg, root string) (string, bool) {
	if info, err := os.Stat(arg); err == nil {
		return filepath.Clean(arg), info.IsDir()
	}
	if _, _, err := scenarios.Find(arg); err == nil {
		return "", false
	}
	for _, root := range []string{"runs", root} {
		if path, err := historyOf(arg, root); err == nil {
			return filepath.Dir(path), true
		}
	}
	return "", false
}

// runName is how the folder of a run is called, or its id.
var runName = regexp.MustCompile(`^([0-9]{8}T[0-9]{6}-.*|[0-9a-f]{4}|` + runner.Latest + `)$`)

// missingRun says whether arg, which means no run, was meant to be one: no scenario has such a name, and it lies where runs do or is
// called as they are.
func missingRun(arg, root string) bool {
	if _, _, err := scenarios.Find(arg); err == nil || filepath.Ext(arg) == ".yaml" {
		return false
	}
	if runName.MatchString(filepath.Base(arg)) {
		return true
	}
	for _, root := range []string{"runs", root} {
		if rel, err := filepath.Rel(root, arg); err == nil && rel != "." && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// compareRuns puts recorded runs side by side.
func (a *app) compareRuns(dirs []string, f *compareFlags) error {
	var cells []compare.Cell
	numbers := map[[2]string]int{}
	seen := map[string]bool{}
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real // latest is another run's folder tomorrow
		}
		if seen[dir] {
			continue // named twice, it is one run
		}
		seen[dir] = true
		o, version, err := a.recordedOutcome(dir)
		if err != nil {
			return err
		}
		key := [2]string{o.Lock, o.Scenario.Name}
		numbers[key]++
		cells = append(cells, compare.Of(o, numbers[key], version))
	}
	return a.showMatrix(compare.New(cells), f)
}

// recordedOutcome is what a run's folder says of it; nothing is judged anew.
func (a *app) recordedOutcome(dir string) (o *runner.Outcome, version string, err error) {
	b, err := os.ReadFile(filepath.Join(dir, runner.ResultFile))
	if err != nil {
		return nil, "", err
	}
	var d reports.Document
	if err := json.Unmarshal(b, &d); err != nil || d.Schema != reports.ResultSchema {
		return nil, "", errors.Join(fmt.Errorf("%s: %w: it is no %s", filepath.Join(dir, runner.ResultFile), history.ErrFormat, reports.ResultSchema), err)
	}
	s := a.expectations(dir)
	if s == nil {
		s = &scenarios.Scenario{Name: d.Scenario}
	}
	seed, _ := strconv.ParseUint(d.Seed, 10, 64)
	o = &runner.Outcome{Run: d.Run, Dir: dir, Scenario: s, Lock: d.Lock, Seed: seed, Cluster: d.Cluster.Ran, Began: d.Began, Results: d.Properties, CrossCheck: d.CrossCheck, Metrics: d.Metrics.Measured(), Interrupted: d.Interrupted}
	if d.Error != nil {
		o.Err = errors.New(d.Error.Message)
	}
	return o, d.Versions["locktest"], nil
}
