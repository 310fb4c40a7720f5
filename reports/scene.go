package reports

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/locktest/locktest/history"
)

// never is a time beyond every run.
const never = time.Duration(math.MaxInt64)

// scene is what a history says about the grants of one incident.
type scene struct {
	h       *history.History
	i       *Incident
	grants  []*grant // in the order in which they began
	steps   []step   // operations, with their ends
	faults  []fault
	stalls  []*history.Op
	from    time.Duration
	to      time.Duration
	cited   map[int]bool // indexes of events that a finding names
	highest map[int]uint64

	refusals map[string]int // acquires that were answered busy, by client
	release  step           // by somebody else, which may have made the lock free while it was held; empty: none is known
	freer    int            // its grant, where that is none of the incident's
	held     *fault         // what held that release back until it ended
	before   bool           // faults ended before any of this began
	proofs   map[int]proof  // of stale writes, by index
}

// proof is what shows that a write was stale: the resource had taken a higher token.
type proof struct {
	op    history.Op
	token uint64
}

// step is an operation: its call and its end. end is nil where none was recorded; single events have no call.
type step struct {
	call *history.Op
	end  *history.Op
}

// op is the event that says most about a step.
func (s step) op() *history.Op {
	if s.end != nil {
		return s.end
	}
	return s.call
}

// filled is op with what only the call said.
func (s step) filled() history.Op {
	op := *s.op()
	if s.call == nil {
		return op
	}
	op.Lock, op.Resource, op.Grant = cmp.Or(op.Lock, s.call.Lock), cmp.Or(op.Resource, s.call.Resource), cmp.Or(op.Grant, s.call.Grant)
	op.Token, op.Mode, op.TTL = cmp.Or(op.Token, s.call.Token), cmp.Or(op.Mode, s.call.Mode), cmp.Or(op.TTL, s.call.TTL)
	if op.F == history.Write {
		op.Value, op.Base = cmp.Or(op.Value, s.call.Value), cmp.Or(op.Base, s.call.Base)
	}
	if len(op.Data) == 0 && op.F == history.Write {
		op.Data = s.call.Data
	}
	return op
}

// at is when a step is told: when it was sent for a release, which gives up at that moment; else when it was answered.
func (s step) at() time.Duration {
	if s.call != nil && (s.call.F == history.Release || s.end == nil) {
		return s.call.Time
	}
	return s.op().Time
}

// grant is one grant's life as its client saw it.
type grant struct {
	id       int
	client   string
	lock     string
	token    uint64
	asked    time.Duration
	granted  time.Duration // never: no answer said so
	leaseEnd time.Duration // when the lease first ended without having been extended; never: none is known
	leases   []span        // in which it was in force, as far as its client could know
	stop     time.Duration // when its client stopped counting as holder; never: it didn't
	stopped  string        // by what
	cause    bool          // not one of the incident: it may have brought it about
	refused  time.Duration // when the acquire was definitely not granted; never: it wasn't refused
}

// span is a piece of time.
type span struct{ from, to time.Duration }

// fault is one injected fault that met the scene.
type fault struct {
	number  int
	kind    string
	text    string
	targets []string
	from    time.Duration
	to      time.Duration // never: it did not end
	begin   *history.Op
	end     *history.Op
}

func newScene(h *history.History, i *Incident) *scene {
	s := &scene{h: h, i: i, cited: map[int]bool{}, highest: map[int]uint64{}, refusals: map[string]int{}, proofs: map[int]proof{}}
	known := i.known
	if known == nil {
		known = newClues(h)
	}
	s.suspect(known)
	for _, f := range i.Findings {
		for _, op := range f.Ops {
			s.cited[op] = true
		}
	}
	s.collect()
	s.bound()
	s.meet(known)
	for n := range h.Ops {
		if op := &h.Ops[n]; op.Type == history.HostStall && op.Time >= s.from && op.Time-op.TTL <= s.to && (op.Client == "" || slices.Contains(s.clients(), op.Client)) {
			s.stalls = append(s.stalls, op)
		}
	}
	return s
}

// collect finds the operations of the incident's grants and those that its findings name.
func (s *scene) collect() {
	type key struct {
		client          string
		thread, process int
	}
	open := map[key]*history.Op{}
	by := map[int]*grant{}
	marks := map[string]proof{}
	for n := range s.h.Ops {
		op := &s.h.Ops[n]
		k := key{op.Client, op.Thread, op.Process}
		st := step{end: op}
		if op.Type == history.Invoke {
			open[k] = op
			continue
		}
		if op.Completes() {
			st.call = open[k]
			delete(open, k)
		}
		s.take(st, by)
		s.mark(st, marks)
	}
	for _, call := range open {
		s.take(step{call: call}, by)
	}
	s.order(by)
}

// mark notes the highest token that a resource had taken before each of its writes.
func (s *scene) mark(st step, marks map[string]proof) {
	op := st.filled()
	if op.Token == 0 || op.F != history.Write && op.F != history.Read {
		return
	}
	seen := marks[op.Resource]
	s.highest[op.Index] = seen.token
	if s.stale(op) {
		s.proofs[op.Index] = seen
	}
	if op.Type == history.OK && op.Token > seen.token {
		marks[op.Resource] = proof{op, op.Token}
	}
}

func (s *scene) take(st step, by map[int]*grant) {
	op := st.filled()
	mine := slices.Contains(s.i.Grants, op.Grant)
	cited := s.cited[op.Index] || st.call != nil && s.cited[st.call.Index]
	if s.freer != 0 && op.Grant == s.freer && (op.F == history.Acquire || st.call == s.release.call && st.call != nil) {
		mine = true
	}
	if fromNemesis(&op) || op.Type == history.Crash || !mine && !cited {
		return
	}
	s.steps = append(s.steps, st)
	if refused(st) {
		s.refusals[op.Client]++
	}
	if !mine {
		return
	}
	g := by[op.Grant]
	if g == nil {
		g = &grant{id: op.Grant, client: op.Client, lock: op.Lock, granted: never, leaseEnd: never, stop: never, refused: never, cause: s.freer != 0 && op.Grant == s.freer}
		by[op.Grant] = g
	}
	g.live(s.h, st)
}

func fromNemesis(op *history.Op) bool {
	switch op.Type {
	case history.FaultBegin, history.FaultEnd, history.FaultMissed, history.HostStall, history.ClockOffset, history.Phase:
		return true
	}
	return false
}

// live adds a step to the life of a grant.
func (g *grant) live(h *history.History, st step) {
	op := st.filled()
	switch {
	case op.F == history.Acquire && st.call != nil:
		g.asked, g.lock = st.call.Time, cmp.Or(g.lock, op.Lock)
		if op.Type == history.Fail {
			g.refused = op.Time
		}
		if op.Type == history.OK {
			g.granted, g.token = op.Time, op.Token
			g.lease(op.Time, leaseEnd(h, &op, st.call))
		}
	case op.F == history.Extend && op.Type == history.OK:
		g.lease(op.Time, leaseEnd(h, &op, st.call))
	case op.Type == history.Renewed && op.Valid > 0:
		g.lease(op.Time, op.Valid)
	case op.F == history.Release && st.call != nil && st.call.Time < g.stop:
		g.stop, g.stopped = st.call.Time, "released"
	case op.Type == history.Lost && op.Time < g.stop:
		g.stop, g.stopped = op.Time, "lost"
	}
}

// lease adds a lease that was granted, or extended, by an answer at from. One that came too late leaves a gap.
func (g *grant) lease(from, to time.Duration) {
	if n := len(g.leases); n > 0 && from <= g.leases[n-1].to {
		g.leases[n-1].to = max(to, g.leases[n-1].to)
	} else {
		g.leases = append(g.leases, span{from, to})
	}
	g.leaseEnd = g.leases[0].to
}

// leaseEnd is when the client may believe that its lease ends: what it said, else a TTL after it asked.
func leaseEnd(h *history.History, op, call *history.Op) time.Duration {
	lock := op.Lock
	if lock == "" && call != nil {
		lock = call.Lock
	}
	expiry := h.Header.Contract(lock).Expiry
	switch {
	case op.Valid > 0:
		return op.Valid
	case expiry != "" && expiry != history.Lease:
		return never // a session, or for ever, whatever was asked for
	case op.TTL > 0 && call != nil:
		return call.Time + op.TTL
	}
	return never
}

// begin is when a grant was answered, or asked for where no answer said so.
func (g *grant) begin() time.Duration {
	if g.granted == never {
		return g.asked
	}
	return g.granted
}

func (s *scene) order(by map[int]*grant) {
	for _, id := range append(slices.Clone(s.i.Grants), s.freer) {
		if g := by[id]; g != nil && id != 0 {
			s.grants = append(s.grants, g)
		}
	}
	slices.SortStableFunc(s.grants, func(a, b *grant) int { return cmp.Compare(a.begin(), b.begin()) })
	for n := range s.h.Ops {
		op := &s.h.Ops[n]
		if op.Type == history.Crash && (s.killed(op) || s.cited[op.Index]) {
			s.steps = append(s.steps, step{end: op})
		}
	}
	slices.SortStableFunc(s.steps, func(a, b step) int {
		return cmp.Or(cmp.Compare(a.at(), b.at()), cmp.Compare(a.op().Index, b.op().Index))
	})
}

// killed ends the holds of a client that was killed, or isn't heard of again, and says whether it had any.
func (s *scene) killed(crash *history.Op) bool {
	held := false
	for _, g := range s.grants {
		if g.client == crash.Client && g.asked <= crash.Time && crash.Time < g.stop && g.refused == never {
			g.stop, g.stopped, held = crash.Time, "killed", true
			if crash.Text != "" { // its death is presumed
				g.stopped = "silent"
			}
		}
	}
	return held
}

// bound sets the part of the run that the story is about.
func (s *scene) bound() {
	s.from = never
	for _, st := range s.steps {
		s.from = min(s.from, st.at())
		s.to = max(s.to, st.at())
	}
	for _, f := range s.i.Findings {
		s.from, s.to = min(s.from, f.At), max(s.to, f.At, f.Until)
	}
}

func (s *scene) clients() []string {
	var out []string
	for _, g := range s.grants {
		if !slices.Contains(out, g.client) {
			out = append(out, g.client)
		}
	}
	for _, st := range s.steps {
		if c := st.op().Client; c != "" && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// stale says whether a write was taken although the resource had seen a higher token.
func (s *scene) stale(op history.Op) bool {
	return op.F == history.Write && op.Type == history.OK && op.Token != 0 && op.Token < s.highest[op.Index]
}

// fenced says whether a write was refused because the resource had seen a higher token.
func (s *scene) fenced(op history.Op) bool {
	return op.F == history.Write && op.Outcome == history.Rejected && op.Token != 0 && op.Token < s.highest[op.Index]
}

// payload shows what was written: the workload's data where that is short, else the version.
func payload(op *history.Op) string {
	if len(op.Data) > 0 && len(op.Data) < 40 {
		var n json.Number
		if json.Unmarshal(op.Data, &n) == nil && n != "" {
			return n.String()
		}
		var named map[string]json.Number
		if json.Unmarshal(op.Data, &named) == nil && len(named) == 1 && named["n"] != "" {
			return named["n"].String()
		}
	}
	return fmt.Sprintf("version %d", op.Value)
}
