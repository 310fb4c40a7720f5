package reports

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/locktest/locktest/baseline"
	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

// ResultSchema names the version of the JSON result.
const ResultSchema = "locktest.result/1"

// Document is the JSON result. Times are nanoseconds, of a run from its begin.
type Document struct {
	Schema      string               `json:"schema"`
	Run         string               `json:"run,omitempty"`
	With        string               `json:"with,omitempty"` // the folder of the first run of the same command
	Scenario    string               `json:"scenario,omitempty"`
	Lock        string               `json:"lock"`
	Cluster     Cluster              `json:"cluster"`
	Separate    bool                 `json:"separate_clients"` // each client was an OS process
	Seed        string               `json:"seed"`             // text: numbers this large lose digits in some readers
	Began       time.Time            `json:"began"`
	Duration    time.Duration        `json:"duration_ns"` // from the first event to the last
	Word        string               `json:"word"`
	Exit        int                  `json:"exit"`
	Met         bool                 `json:"met"` // everything is as expected
	Conditions  []runner.Condition   `json:"conditions"`
	Expected    []runner.Condition   `json:"expected_violations"`
	Accepted    []runner.Condition   `json:"accepted_violations"`
	Known       []runner.Condition   `json:"known_violations"` // by the baseline
	Properties  []checker.Result     `json:"properties"`
	CrossCheck  []checker.Agreement  `json:"cross_check,omitempty"`
	Groups      []DocumentGroup      `json:"violations"`
	Faults      []DocumentFault      `json:"faults"`
	Counts      Counts               `json:"counts"`
	Metrics     DocumentMetrics      `json:"metrics"`
	Stalls      DocumentStalls       `json:"host_stalls"`
	Versions    map[string]string    `json:"versions,omitempty"`
	Paths       map[string]string    `json:"paths,omitempty"`
	Again       string               `json:"again,omitempty"`
	Interrupted string               `json:"interrupted,omitempty"`
	Baseline    *baseline.Comparison `json:"baseline,omitempty"` // where the command was given one
	Truncated   string               `json:"truncated,omitempty"`
	Error       *DocumentError       `json:"error,omitempty"`
}

// Cluster is what the run had for servers.
type Cluster struct {
	Kind  string   `json:"kind,omitempty"`
	Why   string   `json:"why,omitempty"` // auto chose it
	Ran   string   `json:"ran,omitempty"`
	Nodes []string `json:"nodes,omitempty"`
}

// DocumentGroup is a kind of violation with the first instance whose cause can be shown.
type DocumentGroup struct {
	Signature  string        `json:"signature"`
	Pattern    string        `json:"pattern"`
	Count      int           `json:"count"`
	Properties []string      `json:"properties"`
	Grants     []int         `json:"grants"`
	At         time.Duration `json:"at_ns"`
	Text       string        `json:"text"`
}

// DocumentFault is a fault as planned, and what became of it.
type DocumentFault struct {
	history.Fault
	Begun  int      `json:"begun"`
	Healed int      `json:"healed"`
	Missed int      `json:"missed"`
	Why    []string `json:"missed_why,omitempty"` // each reason once
	// Hits is how often it met a hold, or an attempt where it stops all grants, as the coverage check counted. Absent
	// where that did not.
	Hits    *int               `json:"hits,omitempty"`
	Effects map[string]float64 `json:"effects,omitempty"` // overlap_s, lost_updates_percent, notice_s, free_s: as far as seen
}

// Counts are how many events of each kind there were.
type Counts struct {
	Events   int `json:"events"`
	Acquires int `json:"acquires"` // granted
	Releases int `json:"releases"` // answered ok
	Writes   int `json:"writes"`   // accepted
	Refused  int `json:"refused_writes"`
	Lost     int `json:"lost"`
	Unknown  int `json:"unknown"` // operations without a definite answer
	Crashes  int `json:"crashes"`
}

// DocumentMetrics are a run's metrics, in calm time, around faults, and in all.
type DocumentMetrics struct {
	Calm   DocumentPart `json:"calm"`
	Faults DocumentPart `json:"faults"`
	All    DocumentPart `json:"all"`
}

// DocumentPart are the metrics of a part of a run. Its availability is absent where nothing was attempted.
type DocumentPart struct {
	runner.Part
	Availability *float64 `json:"availability,omitempty"`
}

// Measured are the metrics as a run has them.
func (m DocumentMetrics) Measured() runner.Metrics {
	part := func(p DocumentPart) runner.Part {
		if p.Part.Availability = 1; p.Availability != nil {
			p.Part.Availability = *p.Availability
		}
		return p.Part
	}
	return runner.Metrics{Calm: part(m.Calm), Faults: part(m.Faults), All: part(m.All)}
}

func documentMetrics(m runner.Metrics) DocumentMetrics {
	part := func(p runner.Part) DocumentPart {
		if p.Attempts == 0 {
			return DocumentPart{Part: p}
		}
		return DocumentPart{Part: p, Availability: &p.Availability}
	}
	return DocumentMetrics{part(m.Calm), part(m.Faults), part(m.All)}
}

// DocumentStalls are the stalls of the host that were measured.
type DocumentStalls struct {
	Count int           `json:"count"`
	Worst time.Duration `json:"worst_ns"`
}

// DocumentError is an error of the harness.
type DocumentError struct {
	Code    string   `json:"code,omitempty"`
	Message string   `json:"message"`
	Details []string `json:"details,omitempty"`
	Fix     []string `json:"fix,omitempty"`
}

// JSON writes the result as one JSON document.
func JSON(w io.Writer, o *runner.Outcome) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(NewDocument(o)); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// NewDocument makes the JSON result of an outcome.
func NewDocument(o *runner.Outcome) *Document {
	d := &Document{
		Schema: ResultSchema, Run: o.Run, With: o.With, Lock: o.Lock, Cluster: Cluster{Kind: o.Kind, Why: o.KindWhy, Ran: o.Cluster},
		Separate: o.Separate, Seed: fmt.Sprint(o.Seed), Began: o.Began, Word: o.Conclusion.Word, Exit: o.Conclusion.Exit,
		Met: o.Conclusion.Exit == runner.ExitOK && o.Err == nil, Conditions: some(o.Conclusion.Conditions),
		Expected: some(o.Conclusion.Expected), Accepted: some(o.Conclusion.Accepted), Known: some(o.Conclusion.Known), Properties: some(o.Results),
		CrossCheck: o.CrossCheck, Groups: []DocumentGroup{}, Faults: []DocumentFault{}, Metrics: documentMetrics(o.Metrics), Paths: paths(o),
		Again: o.Again, Interrupted: o.Interrupted,
	}
	if o.Scenario != nil {
		d.Scenario = o.Scenario.Name
	}
	if o.Err != nil {
		p := Explain(o.Err)
		d.Error = &DocumentError{Code: p.Code, Message: p.Message, Details: p.Details, Fix: p.Fix}
	}
	if o.History != nil {
		d.fromHistory(o)
	}
	return d
}

// some makes nil an empty list, so that readers always find one.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func paths(o *runner.Outcome) map[string]string {
	if o.Dir == "" {
		return nil
	}
	return map[string]string{"run": filepath.ToSlash(o.Dir), "history": filepath.ToSlash(filepath.Join(o.Dir, "history.jsonl"))}
}

func (d *Document) fromHistory(o *runner.Outcome) {
	h := o.History
	d.Cluster.Nodes, d.Versions, d.Truncated = h.Header.Nodes, h.Header.Versions, h.Truncated
	if n := len(h.Ops); n > 0 {
		d.Duration = h.Ops[n-1].Time
	}
	d.Counts = tally(h)
	d.Stalls.Count, d.Stalls.Worst = stalls(h)
	d.Faults = documentFaults(h, o.Results)
	for _, g := range Groups(h, o.Results) {
		i := g.Incidents[0]
		d.Groups = append(d.Groups, DocumentGroup{Signature: i.Signature, Pattern: i.Pattern, Count: g.Count, Properties: i.Properties(), Grants: some(i.Grants), At: i.start(), Text: i.Findings[0].Message})
	}
}

func tally(h *history.History) Counts {
	c := Counts{Events: len(h.Ops)}
	for i := range h.Ops {
		switch op := &h.Ops[i]; {
		case op.Type == history.Lost:
			c.Lost++
		case op.Type == history.Crash:
			c.Crashes += bit(op.Text == "") // else it is presumed
		case op.Type == history.Info:
			c.Unknown++
		case op.Outcome == history.Rejected && op.F == history.Write:
			c.Refused++
		case op.Type != history.OK:
		case op.F == history.Acquire:
			c.Acquires++
		case op.F == history.Release:
			c.Releases++
		case op.F == history.Write:
			c.Writes++
		}
	}
	return c
}

func documentFaults(h *history.History, results []checker.Result) []DocumentFault {
	out := make([]DocumentFault, len(h.Header.Faults))
	for i, f := range h.Header.Faults {
		out[i].Fault = f
		for _, r := range results {
			if n, ok := r.Numbers[fmt.Sprintf("fault_%d_hits", f.Number)]; ok && r.Property == checker.Coverage {
				hits := int(n)
				out[i].Hits = &hits
			}
			if r.Property == checker.Coverage {
				out[i].Effects = effects(r.Numbers, f.Number)
			}
		}
	}
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Fault < 1 || op.Fault > len(out) {
			continue
		}
		f := &out[op.Fault-1]
		switch op.Type {
		case history.FaultBegin:
			f.Begun++
		case history.FaultEnd:
			f.Healed++
		case history.FaultMissed:
			f.Missed++
			f.Why = once(f.Why, op.Error)
		}
	}
	return out
}

// effects are what a fault did, in seconds and per cent, by their names without its number.
func effects(numbers map[string]float64, fault int) map[string]float64 {
	out := map[string]float64{}
	for _, name := range []string{"overlap_s", "lost_updates_percent", "notice_s", "free_s"} {
		if x, ok := numbers[fmt.Sprintf("fault_%d_%s", fault, name)]; ok {
			out[name] = x
		}
	}
	return out
}

func once(list []string, text string) []string {
	for _, s := range list {
		if s == text {
			return list
		}
	}
	return append(list, text)
}
