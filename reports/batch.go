package reports

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/locktest/locktest/baseline"
	"github.com/locktest/locktest/runner"
)

// Batch is the runs of one command, in their order.
type Batch struct {
	Outcomes []*runner.Outcome
	Exit     int // of the command
	// Passes names the conditions that don't fail the command (--fail-on left them out); nil: all fail it.
	Passes map[string]bool
	// Baseline is what became of known violations; nil: there is no baseline.
	Baseline *baseline.Comparison
	Rates    []Rate // of repeats whose number was fixed before
}

// BatchReporter writes what a command made of all its runs in one format.
type BatchReporter func(w io.Writer, b *Batch) error

// Gravest makes a BatchReporter of one that shows a single run: the first of those with the gravest end.
func Gravest(r Reporter) BatchReporter {
	return func(w io.Writer, b *Batch) error {
		if o := b.gravest(); o != nil {
			return r(w, o)
		}
		return nil
	}
}

// Each makes a BatchReporter that writes one run after the other, with an empty line between.
func Each(r Reporter) BatchReporter {
	return func(w io.Writer, b *Batch) error {
		for i, o := range b.Outcomes {
			if i > 0 {
				if _, err := io.WriteString(w, "\n"); err != nil {
					return err
				}
			}
			if err := r(w, o); err != nil {
				return err
			}
		}
		return nil
	}
}

// SafelyBatch is Safely for reports of several runs.
func SafelyBatch(r BatchReporter) BatchReporter {
	return func(w io.Writer, b *Batch) error {
		return Safely(func(w io.Writer, _ *runner.Outcome) error { return r(w, b) })(w, nil)
	}
}

func (b *Batch) gravest() *runner.Outcome {
	var worst *runner.Outcome
	for _, o := range b.Outcomes {
		if worst == nil || gravity(o) < gravity(worst) {
			worst = o
		}
	}
	return worst
}

// gravity orders the ends of runs: violated, could not run, inconclusive, expectation, as expected.
func gravity(o *runner.Outcome) int {
	switch {
	case o.Conclusion.Exit == runner.ExitViolated:
		return 0
	case o.Err != nil:
		return 1
	case o.Conclusion.Exit == runner.ExitOK:
		return 9
	}
	return o.Conclusion.Exit
}

// disputed says whether the two engines disagree about a run.
func disputed(o *runner.Outcome) bool { return errors.As(o.Err, new(*runner.DisagreementError)) }

// failure is what an error of the harness means for a run, in words.
func failure(o *runner.Outcome) string {
	if disputed(o) {
		return "is disputed"
	}
	return "could not run"
}

// passes says whether a condition doesn't fail the command.
func (b *Batch) passes(c runner.Condition) bool { return b.Passes[c.Name] }

// Series is the runs of one scenario with one lock.
type Series struct {
	Name     string // of the scenario
	Lock     string
	File     string // of the scenario
	Outcomes []*runner.Outcome
}

// Series gathers the runs of each scenario and lock, in the order in which each first came.
func (b *Batch) Series() []Series {
	var out []Series
	at := map[[3]string]int{}
	for _, o := range b.Outcomes {
		s := Series{Lock: o.Lock}
		if o.Scenario != nil {
			s.Name, s.File, s.Lock = o.Scenario.Name, o.Scenario.File, cmp.Or(o.Lock, o.Scenario.Lock.Use)
		}
		key := [3]string{s.Name, s.Lock, s.File}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, s)
		}
		out[i].Outcomes = append(out[i].Outcomes, o)
	}
	return out
}

// properties are the names of all that was judged or asked for in a series: properties, metrics of thresholds, and whatever
// else a condition is about; each once.
func (s *Series) properties() []string {
	var out []string
	add := func(name string) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, o := range s.Outcomes {
		for _, r := range o.Results {
			add(r.Property)
		}
	}
	for _, o := range s.Outcomes {
		if o.Scenario != nil {
			for _, t := range o.Scenario.Thresholds {
				add(t.Metric)
			}
		}
		for _, c := range o.Conclusion.Conditions {
			add(propertyOf(c))
		}
	}
	return out
}

// propertyOf is what a condition is about, without a kind.
func propertyOf(c runner.Condition) string {
	name, _, _ := strings.Cut(c.Property, "/")
	return name
}

// about returns the conditions of a list that are about a property or a metric.
func about(list []runner.Condition, name string) []runner.Condition {
	var out []runner.Condition
	for _, c := range list {
		if propertyOf(c) == name {
			out = append(out, c)
		}
	}
	return out
}
