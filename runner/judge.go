package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
)

// judge reads the history back from the disk: what is judged is what was kept.
func (r *run) judge() {
	h, err := history.LoadJSONL(r.store.path(HistoryFile))
	if err != nil {
		r.out.Err = errors.Join(r.out.Err, fmt.Errorf("read the history back: %w", err))
		return
	}
	versions := map[string]string{"server": r.out.Cluster}
	for k, v := range r.plan.Versions {
		versions[k] = v
	}
	r.out.Err = errors.Join(r.out.Err, r.store.environment(versions))
	Judge(context.Background(), r.out, h, r.plan.Checkers, r.plan.CrossCheck, checker.Options{})
}

// CrossCheck lets the second engine decide on a history. Its error leaves the verdicts as they are.
type CrossCheck func(ctx context.Context, h *history.History) ([]checker.Agreement, error)

// Judge fills in o what a history says: verdicts, what the second engine says, metrics, and the conclusion. Where the engines disagree,
// o.Err has a DisagreementError.
func Judge(ctx context.Context, o *Outcome, h *history.History, checkers []checker.Checker, cross CrossCheck, limits checker.Options) {
	o.History = h
	if n := len(h.Ops); n > 0 {
		o.Elapsed = h.Ops[n-1].Time
	}
	o.Results = checker.Run(ctx, h, checkers, limits)
	o.Metrics = Measure(h)
	o.Metrics.answered(o.Results)
	o.Lock = cmp.Or(o.Lock, provider(h))
	if cross != nil {
		var err error
		o.CrossCheck, err = cross(ctx, h)
		if err != nil {
			o.Err = errors.Join(o.Err, fmt.Errorf("second engine: %w", err))
		}
		o.dispute()
	}
	if o.Scenario != nil {
		o.Conclusion = Conclude(o.Scenario, o.Results, o.Metrics)
	}
}

// dispute makes a disagreement of the engines what it is: an error of the harness.
func (o *Outcome) dispute() {
	about := Disputed(o.CrossCheck)
	if about == "" {
		return
	}
	e := &DisagreementError{About: about}
	if o.Dir != "" {
		e.History = filepath.Join(o.Dir, HistoryFile)
	}
	if o.Err == nil {
		o.Err = e
		return
	}
	o.Err = errors.Join(o.Err, e)
}

func provider(h *history.History) string {
	if len(h.Header.Locks) == 0 {
		return ""
	}
	return h.Header.Locks[0].Provider
}
