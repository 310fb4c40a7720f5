package main

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/locktest/locktest/baseline"
	"github.com/locktest/locktest/reports"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// documents is the one JSON document of a command that made several runs.
type documents struct {
	Schema   string               `json:"schema"`
	Exit     int                  `json:"exit"`
	Runs     []*reports.Document  `json:"runs"`
	Baseline *baseline.Comparison `json:"baseline,omitempty"`
	Rates    []reports.Rate       `json:"rates,omitempty"` // with --until never
}

// failure is the one JSON document of a command that made no run.
type failure struct {
	Schema   string                `json:"schema"`
	Exit     int                   `json:"exit"`
	Error    reports.DocumentError `json:"error"`
	Problems []scenarios.Report    `json:"problems,omitempty"` // of scenario files
}

// documentFor is the result of a single run as it stands in its folder, and of several in one list.
func (a *app) documentFor(b *reports.Batch) any {
	if len(b.Outcomes) == 1 {
		d := documentOfRun(b.Outcomes[0])
		d.Exit, d.Baseline = a.exit, b.Baseline
		return d
	}
	all := documents{Schema: "locktest.results/1", Exit: a.exit, Runs: []*reports.Document{}, Baseline: b.Baseline, Rates: b.Rates}
	for _, o := range b.Outcomes {
		all.Runs = append(all.Runs, documentOfRun(o))
	}
	return all
}

// documentOfRun is the result of one run, with the status that it alone would have, whatever --fail-on lets pass.
func documentOfRun(o *runner.Outcome) *reports.Document {
	d := reports.NewDocument(o)
	d.Exit = exitOf(o, nil)
	return d
}

// writeResult writes what stands in a run's folder as its result.
func writeResult(w io.Writer, o *runner.Outcome) error { return encode(w, documentOfRun(o)) }

// documentOf prints an error after which there is no result.
func (a *app) documentOf(err error, status int) {
	p := reports.Explain(explain(err))
	f := failure{Schema: "locktest.error/1", Exit: status, Error: reports.DocumentError{Code: p.Code, Message: p.Message, Details: p.Details, Fix: p.Fix}}
	var wrong told
	if errors.As(err, &wrong) {
		f.Problems = wrong.problems.Reports()
	}
	a.print(f)
}

func (a *app) print(v any) error { return encode(a.stdout, v) }

// encode writes v as people can read it.
func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
