package nemesis

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Range is a duration drawn evenly between two ends.
type Range struct{ Min, Max time.Duration }

func (r Range) draw(rnd *rand.Rand) time.Duration {
	if r.Max <= r.Min {
		return r.Min
	}
	return r.Min + time.Duration(rnd.Int64N(int64(r.Max-r.Min)+1))
}

// Trigger says when a fault begins: exactly one of At, Every and On is set. Times count from the run's start.
type Trigger struct {
	At *Range
	// Every begins one this long after From, and another this long after the last began. It ends at Until.
	Every       *Range
	From, Until time.Duration // zero: the window's
	On          EventKind
	After       Range   // so long after the event
	Chance      float64 // that an event brings the fault about; 0 counts as 1
	Limit       int     // of Every and On: how many at most; 0: no limit
}

// Entry is a fault as it was asked for.
type Entry struct {
	Fault   Fault
	Trigger Trigger
	For     Range // how long it lasts; zero: the fault's own default, else until the window ends
}

// Window is when faults may be in force: between warmup and settle.
type Window struct{ From, Until time.Duration }

// Occurrence is one time that a fault is in force.
type Occurrence struct {
	Begin time.Duration
	// For is how long; 0: the fault's own default, else until the window ends.
	For time.Duration
}

// Plan is one fault with all that chance decides.
type Plan struct {
	Number int // from 1: the position among the entries
	Fault  Fault
	Times  []Occurrence // of a timed fault, in order

	entry  Entry
	window Window
	seed   uint64
}

// Lay draws the plans of entries. The same entries, seed and window give the same plans.
func Lay(entries []Entry, seed uint64, w Window) ([]Plan, error) {
	plans := make([]Plan, len(entries))
	for i, e := range entries {
		p := Plan{Number: i + 1, Fault: e.Fault, entry: e, window: w, seed: seed}
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("fault %d: %w", p.Number, err)
		}
		p.Times = p.times()
		plans[i] = p
	}
	return plans, nil
}

// Draw is what chance decides about one event of an On trigger.
type Draw struct {
	Taken bool
	After time.Duration
	For   time.Duration
}

// Draw returns the decision about the n-th event (from 1) that p considers: the same for the same seed, whatever came before.
func (p *Plan) Draw(n int) Draw {
	r := p.rand(n)
	chance := p.entry.Trigger.Chance
	if chance == 0 {
		chance = 1
	}
	return Draw{Taken: r.Float64() < chance, After: p.entry.Trigger.After.draw(r), For: p.entry.For.draw(r)}
}

// On is the event that triggers p; empty for a timed fault.
func (p *Plan) On() EventKind { return p.entry.Trigger.On }

// rand is a source for the n-th occurrence alone. Number 0 lays out the times.
func (p *Plan) rand(n int) *rand.Rand {
	return rand.New(rand.NewPCG(p.seed, uint64(p.Number)<<32|uint64(n)))
}

func (p *Plan) check() error {
	t := p.entry.Trigger
	set := 0
	for _, is := range []bool{t.At != nil, t.Every != nil, t.On != ""} {
		if is {
			set++
		}
	}
	if set != 1 {
		return errors.New("it needs exactly one trigger: at, every or on")
	}
	if t.Every != nil && t.Every.Min <= 0 {
		return errors.New("every needs a time above 0")
	}
	if on := []EventKind{Waiting, Acquired, Extending, Releasing}; t.On != "" && !slices.Contains(on, t.On) {
		return fmt.Errorf("it waits for %q, which never happens: there are %v", t.On, on)
	}
	if t.Chance < 0 || t.Chance > 1 {
		return fmt.Errorf("its chance is %v, want 0 to 1", t.Chance)
	}
	return nil
}

func (p *Plan) times() []Occurrence {
	t, r := p.entry.Trigger, p.rand(0)
	if t.At != nil {
		return []Occurrence{{Begin: t.At.draw(r), For: p.entry.For.draw(r)}}
	}
	if t.Every == nil {
		return nil
	}
	from, until := t.From, t.Until
	if from == 0 {
		from = p.window.From
	}
	if until == 0 || until > p.window.Until {
		until = p.window.Until
	}
	var out []Occurrence
	for at := from + t.Every.draw(r); at < until && (t.Limit == 0 || len(out) < t.Limit); at += t.Every.draw(r) {
		out = append(out, Occurrence{Begin: at, For: p.entry.For.draw(r)})
	}
	return out
}
