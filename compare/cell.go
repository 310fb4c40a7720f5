// Package compare puts runs of many locks under the same scenarios side by side: a matrix of what each one kept, and at what
// cost. It runs nothing, and knows no lock by name.
package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/runner"
)

// Schema names the version of a cell's JSON form.
const Schema = "locktest.cell/1"

// Word is what became of a cell.
type Word string

// The words of a cell, from the worst to the best, as rank has them: what isn't known may be worse than a bad service. NotApplicable is a scenario that a lock, or its servers, can't be put to.
const (
	Violated      Word = "violated"
	Inconclusive  Word = "inconclusive" // the run doesn't say whether all was kept
	Unavailable   Word = "unavailable"  // safe, but not granted again in time, or not in calm time either
	Held          Word = "held"
	NotApplicable Word = "n/a"
)

// Cell is one run of one lock under one scenario. Durations are in nanoseconds, shares from 0 to 1.
type Cell struct {
	Schema   string `json:"schema"`
	Lock     string `json:"lock"`
	Scenario string `json:"scenario"`
	Run      int    `json:"run"` // from 1
	Seed     uint64 `json:"seed"`
	Word     Word   `json:"word"`
	// Violated are the properties, or property/kind, that were violated; hazards of leases are among them.
	Violated []string `json:"violated,omitempty"`
	Why      string   `json:"why,omitempty"` // in words, of what isn't held
	Checked  bool     `json:"checks_token"`  // the guarded resource looked at tokens
	// Tokens: the lock gives them.
	Tokens       bool          `json:"tokens"`
	Availability float64       `json:"availability"` // while faults were in effect; of a run without, all the time
	Recovery     time.Duration `json:"recovery_ns,omitempty"`
	P50          time.Duration `json:"acquire_p50_ns"` // in calm time
	P99          time.Duration `json:"acquire_p99_ns"`
	Throughput   float64       `json:"throughput"` // grants a second, in calm time
	Grants       int           `json:"grants"`
	Servers      string        `json:"servers"`
	Version      string        `json:"version,omitempty"` // of locktest
	Date         string        `json:"date"`              // 2006-01-02
	Dir          string        `json:"dir,omitempty"`     // the run's folder
}

// Key tells a cell from every other.
func (c *Cell) Key() string { return fmt.Sprintf("%s %s %d", c.Lock, c.Scenario, c.Run) }

// Of makes the cell of a run.
func Of(o *runner.Outcome, run int, version string) Cell {
	c := Cell{
		Schema: Schema, Lock: o.Lock, Scenario: o.Scenario.Name, Run: run, Seed: o.Seed, Servers: o.Cluster, Version: version,
		Date: o.Began.Format(time.DateOnly), Dir: o.Dir, Checked: o.Scenario.Workload.Resource != "ignores-token",
		P50: o.Metrics.Calm.Acquire.P50, P99: o.Metrics.Calm.Acquire.P99, Throughput: o.Metrics.Calm.Throughput,
		Grants: o.Metrics.All.Granted, Availability: o.Metrics.All.Availability,
	}
	if o.Metrics.Faults.Attempts > 0 {
		c.Availability = o.Metrics.Faults.Availability
	}
	c.judge(o)
	return c
}

// judge takes the word from the results: a lock is not excused by what a scenario expects.
func (c *Cell) judge(o *runner.Outcome) {
	c.Word = Held
	for _, r := range o.Results {
		if s := r.Numbers["slowest_recovery_s"]; r.Property == checker.Liveness && s > 0 {
			c.Recovery = time.Duration(s * float64(time.Second))
		}
		if r.Property == checker.Fencing {
			c.Tokens = r.Verdict != checker.NotApplicable
		}
		word := wordOf(r)
		if r.Property != checker.Hygiene {
			c.Violated = append(c.Violated, named(r)...)
		}
		if word == Held {
			continue
		}
		if rank(word) < rank(c.Word) {
			c.Word, c.Why = word, reason(r, word)
		}
	}
	switch disputed := runner.Disputed(o.CrossCheck); {
	case disputed != "":
		c.Word, c.Why = Inconclusive, "the two engines disagree about "+disputed
	case o.Err != nil || o.Interrupted != "":
		c.Word, c.Why = Inconclusive, "the run was cut short"
	}
}

// wordOf is what one property says of a run. What is undecided is never held, but for what says nothing of the lock: what a client
// kept too long, and an order in which nobody waited.
func wordOf(r checker.Result) Word {
	aside := r.Property == checker.Hygiene || r.Property == checker.Fairness
	service := r.Property == checker.Liveness || r.Property == checker.Availability || r.Property == checker.Fairness
	switch {
	case outlasted(r) && r.Kinds[checker.DoubleGrant] == checker.Inconclusive:
		return Inconclusive
	case outlasted(r):
		return Held // a holder that outlasts its lease is what every lease allows; what it does then is the resource's to judge
	case r.Verdict == checker.Violated && service:
		return Unavailable
	case r.Verdict == checker.Violated && r.Property == checker.Hygiene:
		return Held
	case r.Verdict == checker.Violated:
		return Violated
	case r.Verdict == checker.Inconclusive && !aside:
		return Inconclusive
	}
	return Held
}

// outlasted says whether mutual exclusion was violated by stale holders alone.
func outlasted(r checker.Result) bool {
	return r.Verdict == checker.Violated && r.Property == checker.MutualExclusion && r.Kinds[checker.StaleHolder] == checker.Violated && r.Kinds[checker.DoubleGrant] != checker.Violated
}

// named are the property, or its kinds, that were violated.
func named(r checker.Result) []string {
	if r.Verdict != checker.Violated {
		return nil
	}
	var out []string
	for _, f := range r.Findings {
		name := r.Property + "/" + f.Kind
		if f.Strength != checker.UnderClocks && f.Strength != checker.UnderStall && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// reason is why a property gives a run this word.
func reason(r checker.Result, word Word) string {
	findings, otherwise := r.Findings, r.Summary
	if word == Inconclusive && outlasted(r) { // what is known of stale holders decides nothing
		findings = slices.DeleteFunc(slices.Clone(findings), func(f checker.Finding) bool { return f.Kind != checker.DoubleGrant })
		otherwise = "whether it was granted to two at once is not known"
	}
	if r.Verdict == checker.Violated && len(findings) > 0 {
		return findings[0].Message
	}
	return cmp.Or(r.Why, otherwise)
}

func rank(w Word) int {
	return slices.Index([]Word{Violated, Inconclusive, Unavailable, Held, NotApplicable}, w)
}

// Hazard says whether all that was violated is what every lease allows: a hold that outlasted it, and what it wrote then.
func (c *Cell) Hazard() bool {
	return c.Word == Violated && slices.ContainsFunc(c.Violated, stale) && !slices.ContainsFunc(c.Violated, func(v string) bool {
		return !stale(v) && !consequence(v) && !strings.HasPrefix(v, checker.Liveness+"/")
	})
}

// stale says whether a violation shows that a hold outlasted its lease.
func stale(violation string) bool {
	return violation == checker.MutualExclusion+"/"+checker.StaleHolder || violation == checker.ResourceSafety+"/"+checker.StaleWrite
}

// consequence says whether a stale hold may bring about a violation. What the resource made up, or did in no order, no holder did.
func consequence(violation string) bool {
	kind, ok := strings.CutPrefix(violation, checker.ResourceSafety+"/")
	return ok && kind != checker.RegisterOrder && kind != checker.PhantomRead && kind != checker.RejectedRead
}

// NA is the cell of a scenario that a lock can't be put to.
func NA(lock, scenario, why string) Cell {
	return Cell{Schema: Schema, Lock: lock, Scenario: scenario, Run: 1, Word: NotApplicable, Why: why}
}
