// Package history is what happened in a run: a header that says what was promised, then one event a line in one order
// by one monotonic clock. It knows nothing of locks, servers or verdicts; everybody else reads it.
package history

import (
	"encoding/json"
	"time"
)

// Schema names the version of the JSONL form.
const Schema = "locktest.history/1"

// Type says what an event is: the start or the end of an operation, or something that stands alone.
type Type string

// An operation starts with Invoke and ends with OK (it took effect), Fail (it did not and never will) or Info (it may
// have, may yet, may never). The other types are single events.
const (
	Invoke Type = "invoke"
	OK     Type = "ok"
	Fail   Type = "fail"
	Info   Type = "info"

	Lost        Type = "lost"         // the client learnt that it no longer holds Grant
	Renewed     Type = "renewed"      // background renewal moved the lease of Grant to Valid
	Crash       Type = "crash"        // the client's process was killed; recorded before the signal is sent
	FaultBegin  Type = "fault-begin"  // recorded just before a fault is brought about
	FaultEnd    Type = "fault-end"    // recorded once it is healed
	FaultMissed Type = "fault-missed" // it could not be brought about, Error says why
	HostStall   Type = "host-stall"   // a timer came late by TTL (of Client, or of the harness when Client is empty)
	ClockOffset Type = "clock-offset" // Offset of a server's clock against the harness's
	Observed    Type = "observed"     // found on the server: a key or lease left behind; without a name: Asked
	Phase       Type = "phase"        // a part of the run begins: Name is one of the Phase… constants
)

// The parts of a run, in their order. Only a run that was interrupted or failed has PhaseCut.
const (
	PhaseWarmup = "warmup"
	PhaseFaults = "faults"
	PhaseSettle = "settle" // everything healed, clients go on
	PhaseCut    = "cut"    // the run was cut short; nothing after it was meant to happen
	PhaseDrain  = "drain"  // the workload has ended; each client acquires and releases each lock once
	PhaseEnd    = "end"    // nothing more is sent
)

// F is what an operation does.
type F string

// The operations of clients. For fault events F is the fault's kind, such as "pause".
const (
	Acquire F = "acquire"
	Extend  F = "extend"
	Release F = "release"
	Read    F = "read"
	Write   F = "write"
)

// Outcome refines OK and Fail.
type Outcome string

const (
	Busy     Outcome = "busy"     // acquire failed: somebody else holds it, a definite answer
	NotHeld  Outcome = "not-held" // release or extend failed: this owner does not hold it, a definite answer
	Gone     Outcome = "gone"     // release answered OK where that says only that it is not held now
	Rejected Outcome = "rejected" // the resource refused the write or the read
	Late     Outcome = "late"     // an acquire's OK that came after the client had given up
)

// Modes of an acquire. Empty is Exclusive.
const (
	Exclusive = "exclusive"
	Shared    = "shared"
)

// Op is one event. Which fields are set follows from Type and F; zero means "not said".
type Op struct {
	Index   int           // position in the history, from 0
	Time    time.Duration // since the run began, by the monotonic clock
	Client  string        // c1; the nemesis is "nemesis"
	Thread  int           // of the client, from 1; 0 where clients have one
	Process int           // an operation that ends in Info ends its process: the client goes on as another
	Type    Type
	F       F

	Lock     string
	Resource string
	Grant    int           // pairs what belongs to one acquire, counted from 1 in a run
	Owner    string        // what the service compares
	Mode     string        // Exclusive or Shared
	Permits  int           // asked for; 0 counts as 1
	TTL      time.Duration // asked for, and on OK granted; for HostStall how late
	Token    uint64        // fencing token; 0: none
	Valid    time.Duration // until when the client believes that its lease lasts, on the run's clock; 0: it doesn't say
	Outcome  Outcome
	Value    int64           // write: the version that it makes, unique in a run; read: the version that was read
	Base     int64           // write: the version that it was computed from
	Data     json.RawMessage // the workload's payload, such as the counter's number
	Error    string

	Fault   int           // number of the planned fault, from 1, for fault events
	Targets []string      // of a fault
	Planned time.Duration // when a fault was meant to begin or end
	Name    string        // a phase's name, a clock's node, an observed key
	Offset  time.Duration // a clock's offset
	Text    string        // a fault in words, what was observed
}

// Completes says whether o ends an operation.
func (o *Op) Completes() bool { return o.Type == OK || o.Type == Fail || o.Type == Info }

// Expiry says how a grant ends by itself.
type Expiry string

const (
	NoExpiry Expiry = "none"
	Lease    Expiry = "lease"   // after TTL, unless extended
	Session  Expiry = "session" // when the holder's session or connection ends
)

// Tokens says which fencing tokens grants carry.
type Tokens string

const (
	NoTokens   Tokens = "none"
	PerGrant   Tokens = "grant"
	PerSession Tokens = "session"
)

// Contract is what a lock promises, and what it is judged by. A property whose precondition is not promised is not
// applicable, never held.
type Contract struct {
	Expiry       Expiry        `json:"expiry"`
	TTL          time.Duration `json:"ttl_ns,omitempty"`         // granted to each acquire that doesn't say otherwise
	TTLFromGrant bool          `json:"ttl_from_grant,omitempty"` // else from the request
	Background   bool          `json:"background_renewal,omitempty"`
	Tokens       Tokens        `json:"tokens"`
	OwnerChecked bool          `json:"owner_checked,omitempty"`       // release and extend compare the owner
	ReleaseHeld  bool          `json:"release_proves_held,omitempty"` // release OK proves that it was held until then
	TellsLoss    bool          `json:"tells_loss,omitempty"`
	Validity     bool          `json:"reports_validity,omitempty"` // Valid is set on each grant
	Shared       bool          `json:"shared_mode,omitempty"`
	Permits      int           `json:"permits,omitempty"`       // a semaphore's; 0: a mutex
	Reentry      int           `json:"reentry_limit,omitempty"` // 0: not re-entrant
	FIFO         bool          `json:"fifo,omitempty"`
	NonExclusive bool          `json:"non_exclusive,omitempty"` // claims no exclusion (optimistic, cas)
	FailStop     bool          `json:"fail_stop,omitempty"`     // the client exits when it loses the lock
	Blocking     bool          `json:"blocking,omitempty"`      // waits at the server, else it polls
	Drift        float64       `json:"drift,omitempty"`         // rate of clock drift that it claims to tolerate
	Distributed  bool          `json:"distributed,omitempty"`
}

// Resource is a thing that a lock guards.
type Resource struct {
	Name  string `json:"name"`
	Check string `json:"check"` // ignores-token, checks-token, checks-version
	Store string `json:"store"` // harness, redis, …
	// Ordered says that the completions of reads and writes stand in the history in the order in which the resource decided them.
	Ordered bool `json:"ordered,omitempty"`
}

// What a resource does with the token that a write carries.
const (
	IgnoresToken  = "ignores-token"
	ChecksToken   = "checks-token" // refuses one that is lower than one it has seen, on reads too
	ChecksVersion = "checks-version"
)

// Lock is a lock's name and its contract.
type Lock struct {
	Name     string   `json:"name"`
	Provider string   `json:"provider"` // PROVIDER/STRATEGY
	Contract Contract `json:"contract"`
}

// Fault is one that was planned.
type Fault struct {
	Number  int    `json:"number"` // from 1: the position in the scenario
	Kind    string `json:"kind"`
	Text    string `json:"text"`              // in words, such as "pause the holder"
	Line    int    `json:"line,omitempty"`    // in the scenario file
	MinHits int    `json:"min_hits"`          // with fewer, the run is inconclusive
	Live    bool   `json:"live,omitempty"`    // its target is chosen when it begins
	Trigger string `json:"trigger,omitempty"` // at, every, on
}

// Bounds are what liveness and evidence are measured against.
type Bounds struct {
	RecoverWithin time.Duration `json:"recover_within_ns,omitempty"`
	Wait          time.Duration `json:"wait_ns,omitempty"` // how long an acquire may block
	MinAcquires   int           `json:"min_acquires,omitempty"`
}

// Header is the first line of a history.
type Header struct {
	Schema     string            `json:"schema"`
	Run        string            `json:"run,omitempty"`
	Scenario   string            `json:"scenario,omitempty"`
	Began      time.Time         `json:"began"` // wall clock
	Seed       uint64            `json:"seed"`
	Cluster    string            `json:"cluster,omitempty"` // embedded, process, …; "none" for locks in memory
	Nodes      []string          `json:"nodes,omitempty"`
	Clients    []string          `json:"clients,omitempty"`
	Separate   bool              `json:"separate_clients,omitempty"` // each client is an OS process
	Workload   string            `json:"workload,omitempty"`
	Locks      []Lock            `json:"locks,omitempty"`
	Resources  []Resource        `json:"resources,omitempty"`
	Faults     []Fault           `json:"faults,omitempty"`
	Bounds     Bounds            `json:"bounds"`
	ClockError time.Duration     `json:"clock_error_ns"`          // bound on the error of each time stamp
	Pipe       time.Duration     `json:"pipe_delay_ns,omitempty"` // between a client's reply and its record, measured
	Versions   map[string]string `json:"versions,omitempty"`
}

// Contract returns what the lock of that name promises; a lock that the header doesn't name has the zero Contract.
func (h *Header) Contract(lock string) Contract {
	for _, l := range h.Locks {
		if l.Name == lock {
			return l.Contract
		}
	}
	return Contract{}
}

// Resource returns what is known of the resource of that name.
func (h *Header) Resource(name string) Resource {
	for _, r := range h.Resources {
		if r.Name == name {
			return r
		}
	}
	return Resource{Name: name}
}

// History is a whole one, as read back.
type History struct {
	Header Header
	Ops    []Op // by Index; Time never decreases
	// Truncated says what was wrong with the end of the file, if the harness died while writing it.
	Truncated string
}
