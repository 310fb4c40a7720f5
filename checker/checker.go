// Package checker is what may not be: properties, judged from a history alone. It starts nothing, reads no clock, and
// knows no lock by name.
package checker

import (
	"context"
	"time"

	"github.com/locktest/locktest/history"
)

// Verdict is what is known of a property. The zero Verdict is Inconclusive, and it never counts as a pass.
type Verdict uint8

const (
	Inconclusive Verdict = iota
	Held
	Violated
	NotApplicable
)

var verdicts = [...]string{"inconclusive", "held", "violated", "not-applicable"}

func (v Verdict) String() string { return verdicts[v] }

// MarshalText and UnmarshalText use the words of the JSON result.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Property ids, the same in code, YAML, JSON and reports.
const (
	MutualExclusion = "mutual-exclusion"
	ResourceSafety  = "resource-safety"
	Fencing         = "fencing"
	Ownership       = "ownership"
	Permits         = "permits"
	ReadWrite       = "read-write"
	Reentrancy      = "re-entrancy"
	Liveness        = "liveness"
	Fairness        = "fairness"
	Hygiene         = "hygiene"
	Availability    = "availability"
	Coverage        = "coverage"
)

// Kinds of finding of MutualExclusion, which a scenario can name as mutual-exclusion/KIND.
const (
	DoubleGrant = "double-grant" // the service or the client library is at fault
	StaleHolder = "stale-holder" // a hold outlasted its belief: a hazard of leases
)

// Party is who is to blame.
type Party string

const (
	Service       Party = "service"
	ClientLibrary Party = "client library"
	ClientParty   Party = "client"
	ResourceParty Party = "resource"
)

// Strength says how firm a finding is.
type Strength string

const (
	Definite    Strength = "definite"
	UnderClocks Strength = "under-clocks" // only as far as clocks, or a delay below what was measured, can be trusted
	UnderStall  Strength = "under-stall"  // while the host stalled, or after a reply that came late, and nobody had injected that: inconclusive
	Hazard      Strength = "hazard"       // expected of leases without a token check
)

// Checker judges one property. It is a function of the history alone.
type Checker interface {
	Name() string // the property
	Check(ctx context.Context, h *history.History) (Result, error)
}

// Result is the verdict on one property.
type Result struct {
	Property string             `json:"property"`
	Verdict  Verdict            `json:"verdict"`
	Kinds    map[string]Verdict `json:"kinds,omitempty"` // by kind, where a property has kinds
	Complete bool               `json:"complete"`        // false: sound only, a violation could have been missed
	Why      string             `json:"why,omitempty"`   // the reason for Inconclusive, NotApplicable, or not Complete
	Engine   string             `json:"engine,omitempty"`
	Summary  string             `json:"summary"` // the evidence in few words: "7 911 holds, 0 overlaps"
	Findings []Finding          `json:"findings,omitempty"`
	Count    int                `json:"count,omitempty"` // of all findings; Findings has the first ones
	Numbers  map[string]float64 `json:"numbers,omitempty"`
}

// Finding is one violation, with the fewest operations that show it.
type Finding struct {
	Kind     string        `json:"kind"`
	Lock     string        `json:"lock,omitempty"`
	Resource string        `json:"resource,omitempty"`
	Message  string        `json:"message"` // one sentence with the numbers
	Ops      []int         `json:"ops"`     // indexes of events in the history, ascending
	Grants   []int         `json:"grants,omitempty"`
	Blame    Party         `json:"blame,omitempty"`
	Strength Strength      `json:"strength"`
	At       time.Duration `json:"at_ns"`
	Until    time.Duration `json:"until_ns,omitempty"`
	Fault    int           `json:"fault,omitempty"`  // number of the planned fault that was active, 0: none
	Fenced   string        `json:"fenced,omitempty"` // would a token check have helped: "yes", "no", or why it is not known
}
