package runner

import (
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/scenarios"
)

// Outcome is one run (or one history that was checked again) and what became of it. An error is about us, a verdict is
// about them: Err may be set although there are Results, which then judge what was recorded until it came.
type Outcome struct {
	Run      string // id, such as 7f3a; empty for a history from elsewhere
	With     string // the folder of the first run of the same command
	Dir      string // the run's folder
	Scenario *scenarios.Scenario
	Lock     string // PROVIDER/STRATEGY
	Cluster  string // what ran: "redis-server 7.0.15, 5 processes"; "in this process" for locks in memory
	Kind     string // embedded, process, …, or none
	KindWhy  string // why auto chose Kind, if it did
	Real     bool   // embedded servers are the real ones, as processes of their own
	Separate bool   // clients were OS processes of their own
	Seed     uint64
	Began    time.Time
	Elapsed  time.Duration

	History    *history.History
	Results    []checker.Result
	CrossCheck []checker.Agreement
	Metrics    Metrics

	Interrupted string // the signal that ended the run: SIGINT, SIGTERM
	Err         error  // of the harness
	Conclusion  Conclusion
	Again       string // the command that runs it again
	Report      string // path of the page that was written of it; empty: none was
}

// Conclusion is what the results mean for what was expected, and the exit status.
type Conclusion struct {
	Exit       int
	Word       string      // VIOLATED, INCONCLUSIVE, EXPECTATION MISSED, NO VIOLATION FOUND, NO UNEXPECTED VIOLATION, NO NEW VIOLATION, or VIOLATED, AS EXPECTED
	Conditions []Condition // every condition that was met, the gravest first; none: all is as expected
	Expected   []Condition // violations that were found and expected
	Accepted   []Condition // violations where any verdict is accepted
	Known      []Condition // violations that a baseline accepts
}

// Condition is one reason for an exit status.
type Condition struct {
	Exit     int    `json:"exit"`
	Name     string `json:"name"`     // violated, inconclusive, expectation, threshold
	Property string `json:"property"` // or property/kind, or a threshold's metric
	Text     string `json:"text"`
	Because  string `json:"because,omitempty"` // why a known violation is accepted
}

// Exit statuses of a run that was carried out; those from 64 on are cmd's.
const (
	ExitOK           = 0
	ExitViolated     = 1
	ExitInconclusive = 2
	ExitExpectation  = 3
)

// The words of a Conclusion.
const (
	WordViolated     = "VIOLATED"
	WordInconclusive = "INCONCLUSIVE"
	WordExpectation  = "EXPECTATION MISSED"
	WordNone         = "NO VIOLATION FOUND"
	WordAccepted     = "NO UNEXPECTED VIOLATION" // what was violated is what the scenario accepts
	WordKnown        = "NO NEW VIOLATION"        // what was violated stands in the baseline
	WordAsExpected   = "VIOLATED, AS EXPECTED"
)

// Metrics are durations and rates of a run, by part of it.
type Metrics struct {
	Calm   Part `json:"calm"` // attempts wholly outside [begin, heal + TTL] of every fault
	Faults Part `json:"faults"`
	All    Part `json:"all"`
}

// Part is what was measured over some of the attempts.
type Part struct {
	Attempts int       `json:"attempts"`
	Granted  int       `json:"granted"`
	Busy     int       `json:"busy"`
	Unknown  int       `json:"unknown"`
	Failed   int       `json:"failed"` // definitely not sent
	Acquire  Quantiles `json:"acquire"`
	Wait     Quantiles `json:"wait"` // from a client's first attempt at a lock to the one that was granted
	Hold     Quantiles `json:"hold"`
	Handover Quantiles `json:"handover"` // from a release's answer to the next grant of the same lock
	// Availability is the share of attempts that ended in a grant or a definite busy, 0 to 1; 1 of none.
	Availability float64 `json:"availability"`
	Throughput   float64 `json:"throughput"` // grants per second
}

// Quantiles of durations; zero of none.
type Quantiles struct {
	N   int           `json:"n"`
	P50 time.Duration `json:"p50_ns"`
	P95 time.Duration `json:"p95_ns"`
	P99 time.Duration `json:"p99_ns"`
	Max time.Duration `json:"max_ns"`
}
