package reports

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

// The processes of a trace, as ui.perfetto.dev shows them from top to bottom.
const (
	traceClients = iota + 1 // a thread each: operations
	traceHolds              // a track for each lock: from the grant to its end
	traceFaults
	traceFindings
)

// traceEvent is one of the Trace Event Format (Chrome's JSON). Times are microseconds.
type traceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	Time     float64        `json:"ts"`
	Duration *float64       `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	ID       string         `json:"id,omitempty"`
	Scope    string         `json:"s,omitempty"`  // of an instant
	Bind     string         `json:"bp,omitempty"` // of a flow's end
	Args     map[string]any `json:"args,omitempty"`
}

// Perfetto writes a run as a trace that ui.perfetto.dev and chrome://tracing open: clients as threads with their operations, holds,
// faults and findings, and an arrow from each grant to the writes under it.
func Perfetto(w io.Writer, o *runner.Outcome) error {
	if o.History == nil {
		return fmt.Errorf("run %s recorded nothing", o.Run)
	}
	t := &tracer{w: w, h: o.History, open: map[string]*history.Op{}, holds: map[int]*history.Op{}, faults: map[faultKey]*history.Op{}, tracks: map[string]int{}}
	t.begin(o)
	for i := range o.History.Ops {
		t.event(&o.History.Ops[i])
	}
	t.end()
	for _, r := range o.Results {
		for n, f := range r.Findings {
			id := fmt.Sprintf("%s %d", r.Property, n)
			t.span("finding", r.Property+": "+f.Kind, id, traceFindings, t.track(traceFindings, r.Property), f.At, max(f.Until, f.At), map[string]any{"message": f.Message, "strength": f.Strength})
		}
	}
	t.printf("\n]}\n")
	return t.err
}

type tracer struct {
	w      io.Writer
	h      *history.History
	err    error
	n      int
	tracks map[string]int
	open   map[string]*history.Op // calls, by thread
	holds  map[int]*history.Op    // grants
	faults map[faultKey]*history.Op
	spans  int
}

func (t *tracer) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

func (t *tracer) add(e traceEvent) {
	b, err := json.Marshal(e)
	if err != nil {
		t.err = fmt.Errorf("write trace: %w", err)
		return
	}
	if t.n++; t.n > 1 {
		t.printf(",")
	}
	t.printf("\n%s", b)
}

func (t *tracer) begin(o *runner.Outcome) {
	about, err := json.Marshal(map[string]string{"run": o.Run, "lock": o.Lock, "verdict": o.Conclusion.Word, "seed": fmt.Sprint(o.Seed)})
	if err != nil {
		t.err = err
	}
	t.printf(`{"displayTimeUnit":"ms","otherData":%s,"traceEvents":[`, about)
	for i, name := range []string{"clients", "holds", "faults", "findings"} {
		pid := i + traceClients
		t.add(traceEvent{Name: "process_name", Phase: "M", Process: pid, Args: map[string]any{"name": name}})
		t.add(traceEvent{Name: "process_sort_index", Phase: "M", Process: pid, Args: map[string]any{"sort_index": pid}})
	}
}

// track is the number of a thread of a process of the trace; its first use names it.
func (t *tracer) track(pid int, name string) int {
	key := fmt.Sprint(pid, " ", name)
	if t.tracks[key] == 0 {
		t.tracks[key] = len(t.tracks) + 1
		t.add(traceEvent{Name: "thread_name", Phase: "M", Process: pid, Thread: t.tracks[key], Args: map[string]any{"name": name}})
	}
	return t.tracks[key]
}

// threadOf is a client's thread, c1 or c1/2.
func threadOf(op *history.Op) string {
	if op.Thread > 0 {
		return fmt.Sprintf("%s/%d", op.Client, op.Thread)
	}
	return op.Client
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func (t *tracer) event(op *history.Op) {
	switch op.Type {
	case history.Invoke:
		if left := t.open[threadOf(op)]; left != nil {
			t.unanswered(left, op.Time) // by a process of this client that is no more
		}
		t.open[threadOf(op)] = op
		if op.F == history.Release {
			t.letGo(op.Grant, op.Time, "released")
		}
	case history.OK, history.Fail, history.Info:
		t.completed(op)
	case history.FaultBegin:
		t.faults[faultKey{op.Client, op.Process, op.Fault}] = op
	case history.FaultEnd:
		t.fault(op)
	case history.Lost:
		t.letGo(op.Grant, op.Time, "lost")
		t.instant(op, "lost "+op.Lock)
	case history.Crash:
		for _, grant := range slices.Sorted(maps.Keys(t.holds)) {
			if t.holds[grant].Client == op.Client {
				t.letGo(grant, op.Time, cmp.Or(op.Text, "killed"))
			}
		}
		t.instant(op, cmp.Or(op.Text, "killed"))
	case history.HostStall, history.FaultMissed, history.Phase:
		t.add(traceEvent{Name: strings.TrimSpace(string(op.Type) + " " + op.Name + op.Error), Phase: "i", Scope: "g", Time: micros(op.Time), Process: traceFaults, Thread: t.track(traceFaults, "run")})
	}
}

func (t *tracer) instant(op *history.Op, name string) {
	t.add(traceEvent{Name: name, Phase: "i", Scope: "t", Time: micros(op.Time), Process: traceClients, Thread: t.track(traceClients, threadOf(op))})
}

// completed writes an operation as a whole: on one thread they never overlap.
func (t *tracer) completed(op *history.Op) {
	call := t.open[threadOf(op)]
	if call == nil || call.Process != op.Process {
		return
	}
	delete(t.open, threadOf(op))
	thread, length := t.track(traceClients, threadOf(op)), micros(op.Time-call.Time)
	args := map[string]any{"index": call.Index, "result": endOf(op), "lock": call.Lock}
	if op.Grant != 0 {
		args["grant"] = op.Grant
	}
	if op.Token != 0 {
		args["token"] = fmt.Sprint(op.Token)
	}
	if op.Error != "" {
		args["error"] = op.Error
	}
	t.add(traceEvent{Name: string(call.F) + " " + endOf(op), Category: string(call.F), Phase: "X", Time: micros(call.Time), Duration: &length, Process: traceClients, Thread: thread, Args: args})
	switch {
	case call.F == history.Acquire && op.Type == history.OK:
		held := *op
		held.Lock = call.Lock
		t.holds[op.Grant] = &held
		t.add(traceEvent{Name: "grant", Category: "grant", Phase: "s", ID: fmt.Sprint(op.Grant), Time: micros(op.Time) - length/2, Process: traceClients, Thread: thread})
	case call.F == history.Write:
		t.add(traceEvent{Name: "grant", Category: "grant", Phase: "f", Bind: "e", ID: fmt.Sprint(call.Grant), Time: micros(call.Time) + length/2, Process: traceClients, Thread: thread})
	}
}

// unanswered writes a call whose answer wasn't recorded.
func (t *tracer) unanswered(call *history.Op, until time.Duration) {
	length := micros(until - call.Time)
	args := map[string]any{"index": call.Index, "result": "open", "lock": call.Lock}
	if call.Grant != 0 {
		args["grant"] = call.Grant
	}
	t.add(traceEvent{Name: string(call.F) + " open", Category: string(call.F), Phase: "X", Time: micros(call.Time), Duration: &length, Process: traceClients, Thread: t.track(traceClients, threadOf(call)), Args: args})
}

// endOf is how an operation ended, in one word.
func endOf(op *history.Op) string {
	switch {
	case op.Outcome != "":
		return string(op.Outcome)
	case op.Type == history.Info:
		return "unknown"
	case op.Type == history.Fail:
		return "failed"
	}
	return "ok"
}

func (t *tracer) letGo(grant int, at time.Duration, why string) {
	held := t.holds[grant]
	if held == nil {
		return
	}
	delete(t.holds, grant)
	args := map[string]any{"grant": grant, "until": why}
	if held.Token != 0 {
		args["token"] = fmt.Sprint(held.Token)
	}
	if held.Valid > 0 {
		args["lease_ends_us"] = micros(held.Valid)
	}
	t.span("hold", held.Client, fmt.Sprint("grant ", grant), traceHolds, t.track(traceHolds, held.Lock), held.Time, at, args)
}

func (t *tracer) fault(end *history.Op) {
	key := faultKey{end.Client, end.Process, end.Fault}
	begun := t.faults[key]
	if begun == nil {
		return
	}
	delete(t.faults, key)
	name := begun.Text
	if name == "" {
		name = string(begun.F)
	}
	t.spans++
	t.span("fault", name, fmt.Sprint("fault ", begun.Fault, " ", t.spans), traceFaults, t.track(traceFaults, string(begun.F)), begun.Time, end.Time, map[string]any{"targets": begun.Targets, "number": begun.Fault})
}

// span writes what may overlap others on its track: two events that their id joins.
func (t *tracer) span(category, name, id string, pid, tid int, from, to time.Duration, args map[string]any) {
	e := traceEvent{Name: name, Category: category, Phase: "b", ID: id, Time: micros(from), Process: pid, Thread: tid, Args: args}
	t.add(e)
	e.Phase, e.Time, e.Args = "e", micros(to), nil
	t.add(e)
}

// end closes what was open when the history ended.
func (t *tracer) end() {
	var last time.Duration
	if n := len(t.h.Ops); n > 0 {
		last = t.h.Ops[n-1].Time
	}
	for _, call := range slices.SortedFunc(maps.Values(t.open), func(a, b *history.Op) int { return a.Index - b.Index }) {
		t.unanswered(call, last)
	}
	for _, grant := range slices.Sorted(maps.Keys(t.holds)) {
		t.letGo(grant, last, "the history's end")
	}
	for _, begun := range slices.SortedFunc(maps.Values(t.faults), func(a, b *history.Op) int { return a.Index - b.Index }) {
		end := *begun
		end.Time = last
		t.fault(&end)
	}
}
