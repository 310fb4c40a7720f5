// Package prom is the metrics of runs for Prometheus: while a run lasts, or of its history afterwards, by the same rules. It
// judges nothing, and has no label whose values are without number: no client, run or seed.
package prom

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

// Metrics are those of all runs that it was told of. Its methods are not to be called from several goroutines at once, but
// for the handler's.
type Metrics struct {
	registry   *prometheus.Registry
	acquire    *prometheus.HistogramVec
	hold       *prometheus.HistogramVec
	handover   *prometheus.HistogramVec
	operations *prometheus.CounterVec
	violations *prometheus.CounterVec
	faults     *prometheus.GaugeVec

	run run
}

// run is what has to be known of the one that goes on.
type run struct {
	providers map[string]string // by lock
	open      map[caller]history.Op
	grants    map[int]history.Op
	freed     map[string]time.Duration // when a release of the lock was answered
	active    map[fault][]string       // labels of faults in effect
}

type caller struct {
	client          string
	thread, process int
}

type fault struct {
	process, number int
}

// New returns metrics of nothing yet. versions are those of the program.
func New(versions map[string]string) *Metrics {
	buckets := prometheus.ExponentialBuckets(.0005, 2, 16) // half a millisecond to 16 s
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "locktest_" + name + "_duration_seconds", Help: help, Buckets: buckets}, labels)
	}
	m := &Metrics{
		registry:   prometheus.NewRegistry(),
		acquire:    histogram("acquire", "From an acquire's call to its answer.", "provider", "lock", "result"),
		hold:       histogram("hold", "From a grant to the call of its release.", "provider", "lock"),
		handover:   histogram("handover", "From a release's answer to the next grant of that lock, where somebody had waited.", "provider", "lock"),
		operations: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "locktest_operations_total", Help: "Operations that are over."}, []string{"provider", "operation", "result"}),
		violations: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "locktest_violations_total", Help: "Findings of runs that are judged, expected ones too."}, []string{"provider", "property"}),
		faults:     prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "locktest_fault_active", Help: "1 while a fault is in effect."}, []string{"kind", "target"}),
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "locktest_build_info", Help: "1, with the program's versions as labels."}, []string{"version", "history", "client"})
	build.WithLabelValues(versions["locktest"], versions["history"], versions["client"]).Set(1)
	m.registry.MustRegister(m.acquire, m.hold, m.handover, m.operations, m.violations, m.faults, build)
	return m
}

// Begin starts a run: events from now on are its own. Faults of one before that never healed are no longer in effect.
func (m *Metrics) Begin(h *history.Header) {
	m.faults.Reset()
	m.run = run{providers: map[string]string{}, open: map[caller]history.Op{}, grants: map[int]history.Op{}, freed: map[string]time.Duration{}, active: map[fault][]string{}}
	for _, l := range h.Locks {
		m.run.providers[l.Name] = l.Provider
	}
}

// Observe takes an event of the run, in its order.
func (m *Metrics) Observe(op *history.Op) {
	switch {
	case op.Type == history.Invoke:
		m.invoked(op)
	case op.Completes():
		m.completed(op)
	case op.Type == history.FaultBegin:
		target := strings.Join(op.Targets, ",")
		m.run.active[fault{op.Process, op.Fault}] = []string{string(op.F), target}
		m.faults.WithLabelValues(string(op.F), target).Set(1)
	case op.Type == history.FaultEnd:
		if labels, ok := m.run.active[fault{op.Process, op.Fault}]; ok {
			m.faults.WithLabelValues(labels...).Set(0)
			delete(m.run.active, fault{op.Process, op.Fault})
		}
	}
}

func (m *Metrics) invoked(op *history.Op) {
	m.run.open[caller{op.Client, op.Thread, op.Process}] = *op
	if grant, ok := m.run.grants[op.Grant]; ok && op.F == history.Release {
		m.hold.WithLabelValues(m.run.providers[grant.Lock], grant.Lock).Observe((op.Time - grant.Time).Seconds())
		delete(m.run.grants, op.Grant)
	}
}

func (m *Metrics) completed(op *history.Op) {
	call, ok := m.run.open[caller{op.Client, op.Thread, op.Process}]
	if !ok {
		return
	}
	delete(m.run.open, caller{op.Client, op.Thread, op.Process})
	provider := m.run.providers[call.Lock]
	m.operations.WithLabelValues(provider, string(call.F), result(op)).Inc()
	switch {
	case call.F == history.Acquire:
		m.acquire.WithLabelValues(provider, call.Lock, result(op)).Observe((op.Time - call.Time).Seconds())
		if op.Type != history.OK {
			return
		}
		granted := *op
		granted.Lock = call.Lock
		m.run.grants[op.Grant] = granted
		if at, ok := m.run.freed[call.Lock]; ok && call.Time < at {
			m.handover.WithLabelValues(provider, call.Lock).Observe((op.Time - at).Seconds())
		}
		delete(m.run.freed, call.Lock)
	case call.F == history.Release && op.Type == history.OK:
		m.run.freed[call.Lock] = op.Time
	}
}

// result is a completion in one word.
func result(op *history.Op) string {
	switch {
	case op.Type == history.OK && op.Outcome == "":
		return "ok"
	case op.Type == history.Info:
		return "unknown"
	case op.Outcome != "":
		return string(op.Outcome)
	}
	return "failed"
}

// Judged takes the verdicts of the run.
func (m *Metrics) Judged(o *runner.Outcome) {
	for _, r := range o.Results {
		m.violations.WithLabelValues(o.Lock, r.Property).Add(float64(r.Count))
	}
}

// Outcome takes a whole run from its history.
func (m *Metrics) Outcome(o *runner.Outcome) {
	if o.History == nil {
		return
	}
	m.Begin(&o.History.Header)
	for i := range o.History.Ops {
		m.Observe(&o.History.Ops[i])
	}
	m.Judged(o)
}

// Handler serves what is known at the moment, in the form that is asked for.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Write writes what is known in Prometheus' text form.
func (m *Metrics) Write(w io.Writer) error {
	families, err := m.registry.Gather()
	if err != nil {
		return fmt.Errorf("gather metrics: %w", err)
	}
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(w, f); err != nil {
			return fmt.Errorf("write metrics: %w", err)
		}
	}
	return nil
}

// Text writes the metrics of these runs in Prometheus' text form.
func Text(w io.Writer, versions map[string]string, outcomes []*runner.Outcome) error {
	m := New(versions)
	for _, o := range outcomes {
		m.Outcome(o)
	}
	return m.Write(w)
}
