package runner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/scenarios"
)

// Safety properties: a violation that was not expected exits with 1. Violations of the others exit with 3.
var safety = map[string]bool{
	checker.MutualExclusion: true, checker.ResourceSafety: true, checker.Fencing: true, checker.Ownership: true,
	checker.Permits: true, checker.ReadWrite: true, checker.Reentrancy: true,
}

// Conclude compares results and metrics with what the scenario expects. An expectation excuses only the property, or
// the kind, that it names; what isn't named must be held, and n/a meets held, never violated.
func Conclude(s *scenarios.Scenario, results []checker.Result, m Metrics) Conclusion {
	c := &concluder{expect: s.Expect}
	for _, r := range results {
		c.result(r)
	}
	c.missing(results)
	for _, t := range s.Thresholds {
		c.threshold(t, m)
	}
	c.availability(m)
	return c.conclusion()
}

type concluder struct {
	expect   map[string]scenarios.Expectation
	met      []Condition
	expected []Condition
	accepted []Condition
}

// result judges one property. Where the scenario names a kind of it, each kind is judged for itself; a property that tells no kinds
// apart, since it doesn't apply or nothing decided it, has violated none, whichever was expected.
func (c *concluder) result(r checker.Result) {
	named := c.kinds(r.Property)
	if len(named) == 0 || len(r.Kinds) == 0 {
		c.verdict(r.Property, c.want(r.Property, ""), r.Verdict, r)
		for _, kind := range named {
			if want := c.want(r.Property, kind); want.Verdict == "violated" && r.Verdict != checker.Violated {
				c.verdict(r.Property+"/"+kind, want, r.Verdict, r)
			}
		}
		return
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Kinds)) {
		c.verdict(r.Property+"/"+kind, c.want(r.Property, kind), r.Kinds[kind], r)
	}
	if r.Verdict == checker.Inconclusive {
		c.verdict(r.Property, c.want(r.Property, ""), r.Verdict, r)
	}
}

// kinds are those of a property that the scenario names.
func (c *concluder) kinds(property string) []string {
	var out []string
	for name := range c.expect {
		if kind, ok := strings.CutPrefix(name, property+"/"); ok {
			out = append(out, kind)
		}
	}
	slices.Sort(out)
	return out
}

func (c *concluder) want(property, kind string) scenarios.Expectation {
	if e, ok := c.expect[property+"/"+kind]; ok {
		return e
	}
	e := c.expect[property]
	if e.Verdict == "" {
		e.Verdict = "held"
	}
	return e
}

func (c *concluder) verdict(name string, want scenarios.Expectation, got checker.Verdict, r checker.Result) {
	switch {
	case want.Verdict == "any":
		if got == checker.Violated {
			c.accepted = append(c.accepted, Condition{Exit: ExitOK, Name: "violated", Property: name, Text: firstMessage(r, name)})
		}
	case want.Verdict == "violated" && got == checker.Violated:
		c.expected = append(c.expected, Condition{Exit: ExitOK, Name: "violated", Property: name, Text: want.Because})
	case want.Verdict == "violated":
		c.met = append(c.met, Condition{Exit: ExitExpectation, Name: "expectation", Property: name, Text: fmt.Sprintf("a violation was expected (%s), the verdict is %s%s", want.Because, got, because(r))})
	case got == checker.Violated && safety[r.Property]:
		c.met = append(c.met, Condition{Exit: ExitViolated, Name: "violated", Property: name, Text: firstMessage(r, name)})
	case got == checker.Violated:
		c.met = append(c.met, Condition{Exit: ExitExpectation, Name: "expectation", Property: name, Text: firstMessage(r, name)})
	case got == checker.Inconclusive:
		c.met = append(c.met, Condition{Exit: ExitInconclusive, Name: "inconclusive", Property: name, Text: cmp.Or(r.Why, r.Summary)})
	}
}

func because(r checker.Result) string {
	if r.Why == "" {
		return ""
	}
	return ": " + r.Why
}

func firstMessage(r checker.Result, name string) string {
	_, kind, _ := strings.Cut(name, "/")
	for _, f := range r.Findings {
		if kind == "" || f.Kind == kind {
			return f.Message
		}
	}
	if kind != "" { // the summary is of all kinds
		return fmt.Sprintf("%s: counted, but not kept one by one", strings.ReplaceAll(kind, "-", " "))
	}
	return r.Summary
}

// missing finds expectations of properties that nothing judged: silence is not success.
func (c *concluder) missing(results []checker.Result) {
	for _, name := range slices.Sorted(maps.Keys(c.expect)) {
		property, _, _ := strings.Cut(name, "/")
		judged := slices.ContainsFunc(results, func(r checker.Result) bool { return r.Property == property })
		if e := c.expect[name]; !judged && e.Verdict != "any" {
			c.met = append(c.met, Condition{Exit: ExitInconclusive, Name: "inconclusive", Property: name, Text: "nothing judged this property in this run"})
		}
	}
}

func (c *concluder) threshold(t scenarios.Threshold, m Metrics) {
	part := m.part(t.During)
	name, quantile, _ := strings.Cut(t.Metric, ".")
	if name == "availability" || name == "throughput" {
		if part.Attempts == 0 {
			c.met = append(c.met, Condition{Exit: ExitInconclusive, Name: "inconclusive", Property: t.Metric, Text: fmt.Sprintf("no attempt was made during %s", cmp.Or(t.During, "all"))})
			return
		}
		got := map[string]float64{"availability": part.Availability, "throughput": part.Throughput}[name]
		if got < t.Min {
			c.met = append(c.met, Condition{Exit: ExitExpectation, Name: "threshold", Property: t.Metric, Text: fmt.Sprintf("%s during %s is %.4g, the minimum is %.4g", t.Metric, cmp.Or(t.During, "all"), got, t.Min)})
		}
		return
	}
	q := map[string]Quantiles{"acquire": part.Acquire, "hold": part.Hold, "handover": part.Handover}[name]
	got := map[string]time.Duration{"p50": q.P50, "p95": q.P95, "p99": q.P99, "max": q.Max}[quantile]
	switch {
	case q.N == 0:
		c.met = append(c.met, Condition{Exit: ExitInconclusive, Name: "inconclusive", Property: t.Metric, Text: fmt.Sprintf("nothing was measured for %s during %s", t.Metric, cmp.Or(t.During, "all"))})
	case t.Max > 0 && got > t.Max:
		c.met = append(c.met, Condition{Exit: ExitExpectation, Name: "threshold", Property: t.Metric, Text: fmt.Sprintf("%s during %s is %v, the maximum is %v", t.Metric, cmp.Or(t.During, "all"), got.Round(10*time.Microsecond), t.Max)})
	}
}

func (c *concluder) availability(m Metrics) {
	e, ok := c.expect[checker.Availability]
	if !ok || !e.HasMin {
		return
	}
	part := m.part(e.During)
	switch {
	case part.Attempts == 0:
		c.met = append(c.met, Condition{Exit: ExitInconclusive, Name: "inconclusive", Property: checker.Availability, Text: fmt.Sprintf("no attempt was made during %s", cmp.Or(e.During, "all"))})
	case part.Availability < e.Min:
		c.met = append(c.met, Condition{Exit: ExitExpectation, Name: "expectation", Property: checker.Availability, Text: fmt.Sprintf("availability during %s is %.2f %%, the minimum is %.2f %%", cmp.Or(e.During, "all"), 100*part.Availability, 100*e.Min)})
	}
}

// conclusion picks the word and the status.
func (c *concluder) conclusion() Conclusion {
	slices.SortStableFunc(c.met, func(a, b Condition) int { return cmp.Compare(a.Exit, b.Exit) })
	out := Conclusion{Conditions: c.met, Expected: c.expected, Accepted: c.accepted}
	out.settle()
	return out
}

// settle derives word and status: of 1, 2 and 3 the lowest wins.
func (c *Conclusion) settle() {
	c.Exit, c.Word = ExitOK, WordNone
	if len(c.Accepted) > 0 {
		c.Word = WordAccepted
	}
	if len(c.Expected) > 0 {
		c.Word = WordAsExpected
	}
	if len(c.Known) > 0 {
		c.Word = WordKnown
	}
	if len(c.Conditions) > 0 {
		c.Exit = c.Conditions[0].Exit
		c.Word = map[int]string{ExitViolated: WordViolated, ExitInconclusive: WordInconclusive, ExitExpectation: WordExpectation}[c.Exit]
	}
}

// Excuse returns the conclusion with the violations that are known, and why they are borne with, apart from its conditions.
func (c Conclusion) Excuse(known func(Condition) (because string, ok bool)) Conclusion {
	out := c
	out.Conditions = nil
	for _, m := range c.Conditions {
		if because, ok := known(m); ok {
			m.Exit, m.Because = ExitOK, because
			out.Known = append(out.Known, m)
			continue
		}
		out.Conditions = append(out.Conditions, m)
	}
	out.settle()
	return out
}

func (m Metrics) part(during string) Part {
	switch during {
	case "calm":
		return m.Calm
	case "faults":
		return m.Faults
	}
	return m.All
}
