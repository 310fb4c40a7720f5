package baseline

import (
	"cmp"
	"encoding/hex"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

// NoFault is the fault of a violation that came without one.
const NoFault = "none"

// Signature is what stays the same of a violation between runs and seeds: no times, ids or tokens.
type Signature struct {
	Scenario string `json:"scenario"` // its name
	Lock     string `json:"lock"`     // PROVIDER/STRATEGY
	Property string `json:"property"` // PROPERTY/KIND
	Fault    string `json:"fault"`    // the kind of the fault that was active, or none
}

// ID is eight hexadecimal digits that stand for the signature.
func (s Signature) ID() string {
	sum := fnv.New32a()
	sum.Write([]byte(strings.Join([]string{s.Scenario, s.Lock, s.Property, s.Fault}, "\x00")))
	return hex.EncodeToString(sum.Sum(nil))
}

func (s Signature) String() string {
	text := s.Scenario + " with " + s.Lock + ": " + s.Property
	if s.Fault != NoFault {
		text += ", during " + s.Fault
	}
	return text
}

// Run is what a baseline has to know of one run.
type Run struct {
	Scenario string
	Lock     string
	Results  []checker.Result
	Faults   []history.Fault
	// Unexpected has the conditions that the run met, known ones among them.
	Unexpected []runner.Condition
	Whole      bool // it went to its end
}

// Of makes a Run of an outcome.
func Of(o *runner.Outcome) Run {
	r := Run{Lock: o.Lock, Results: o.Results, Unexpected: slices.Concat(o.Conclusion.Conditions, o.Conclusion.Known), Whole: o.Err == nil && o.Interrupted == ""}
	if o.Scenario != nil {
		r.Scenario, r.Lock = o.Scenario.Name, cmp.Or(o.Lock, o.Scenario.Lock.Use)
	}
	if o.History != nil {
		r.Faults = o.History.Header.Faults
	}
	return r
}

// Signatures are those of all violations that nobody expected, each once.
func (r *Run) Signatures() []Signature {
	var out []Signature
	for _, c := range r.Unexpected {
		for _, s := range r.signatures(c) {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// signatures are those of the findings that a condition is about; none where it is about no violation. Findings that only
// clocks or a stalled host may have made up don't count beside firm ones, and those beyond the number that a result keeps
// are taken to be like those that it kept.
func (r *Run) signatures(c runner.Condition) []Signature {
	if c.Name != "violated" && c.Name != "expectation" {
		return nil
	}
	property, kind, _ := strings.Cut(c.Property, "/")
	var firm, doubtful []Signature
	for _, result := range r.Results {
		if result.Property != property || result.Verdict != checker.Violated {
			continue
		}
		for _, f := range result.Findings {
			s := Signature{Scenario: r.Scenario, Lock: r.Lock, Property: property + "/" + f.Kind, Fault: NoFault}
			if f.Fault > 0 && f.Fault <= len(r.Faults) {
				s.Fault = r.Faults[f.Fault-1].Kind
			}
			list := &firm
			if f.Strength == checker.UnderClocks || f.Strength == checker.UnderStall {
				list = &doubtful
			}
			if (kind == "" || f.Kind == kind) && !slices.Contains(*list, s) {
				*list = append(*list, s)
			}
		}
	}
	if len(firm) > 0 {
		return firm
	}
	return doubtful
}

// Excuse takes the conditions that are about accepted violations alone out of o's conclusion: they are known then.
func (f *File) Excuse(o *runner.Outcome) {
	if f == nil {
		return
	}
	r := Of(o)
	o.Conclusion = o.Conclusion.Excuse(func(c runner.Condition) (because string, ok bool) {
		var reasons []string
		for _, s := range r.signatures(c) {
			e, known := f.Find(s)
			if !known {
				return "", false
			}
			if !slices.Contains(reasons, e.Because) {
				reasons = append(reasons, e.Because)
			}
		}
		return strings.Join(reasons, "; "), len(reasons) > 0
	})
}
