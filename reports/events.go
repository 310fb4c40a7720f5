package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locktest/locktest/history"
)

// maxEvents is how many lines the story of what happened has at most.
const maxEvents = 12

// event is one line of a story.
type event struct {
	at     time.Duration
	who    string
	text   string
	result string // what became of it, in a column of its own
	bad    bool
	mark   bool // a fault
	weight int  // the lightest are left out first
	first  bool // before others of that moment
	op     int  // index of the event that it tells, of a step
}

// events tells what happened, at most maxEvents lines of it. left is how many were left out.
func (s *scene) events() (out []event, left int) {
	for _, st := range s.steps {
		if s.refusals[st.op().Client] > maxRefusals && refused(st) {
			continue
		}
		if e, ok := s.tell(st); ok {
			out = append(out, e)
		}
	}
	out = append(out, s.refusedOften()...)
	out = append(out, s.leaseEnds()...)
	out = append(out, s.faultEvents()...)
	for _, op := range s.stalls {
		out = append(out, event{at: op.Time, mark: true, who: op.Client, text: "the host stalled for " + long(op.TTL) + ", which nobody had asked for", weight: 7})
	}
	slices.SortStableFunc(out, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(bit(b.first), bit(a.first))) })
	for len(out) > maxEvents {
		lightest := 0
		for i, e := range out {
			if e.weight <= out[lightest].weight {
				lightest = i
			}
		}
		out = slices.Delete(out, lightest, lightest+1)
		left++
	}
	return out, left
}

// maxRefusals is how many refused acquires of one client have a line each; more share one.
const maxRefusals = 2

// refused says whether a step is an acquire that was answered busy.
func refused(st step) bool {
	op := st.op()
	return op.F == history.Acquire && op.Type == history.Fail && op.Outcome == history.Busy
}

func (s *scene) refusedOften() []event {
	var out []event
	told := map[string]int{}
	for _, st := range s.steps {
		op := st.op()
		if !refused(st) || s.refusals[op.Client] <= maxRefusals {
			continue
		}
		n, ok := told[op.Client]
		if !ok {
			n = len(out)
			told[op.Client] = n
			out = append(out, event{at: op.Time, who: op.Client, weight: 10, result: "answer: busy"})
		}
		out[n].text = fmt.Sprintf("asked for %s %s until %s", clean(op.Lock), times(s.refusals[op.Client]), at(op.Time))
	}
	return out
}

// tell makes a line of a step.
func (s *scene) tell(st step) (event, bool) {
	filled := st.filled()
	op := &filled
	e := event{at: st.at(), who: op.Client, weight: 5, op: op.Index}
	if s.cited[op.Index] || st.call != nil && s.cited[st.call.Index] {
		e.weight = 10
	}
	switch {
	case op.Type == history.Lost:
		e.text, e.weight = "was told that it had lost "+clean(op.Lock), 9
	case op.Type == history.Renewed:
		e.text, e.weight = "lease renewed in the background"+until(op), 3
	case op.Type == history.Crash:
		e.text, e.mark, e.weight = cmp.Or(clean(op.Text), "was killed"), op.Text == "", 9
	case op.Type == history.Observed && op.Name == "":
		e.who, e.text, e.weight = "", clean(op.Text), 3
	case op.Type == history.Observed:
		e.who, e.text, e.weight = "", "found on the server: "+clean(strings.TrimSpace(op.Name+" "+op.Text)), 6
	case op.F == history.Acquire:
		e.text, e.result = s.acquireText(st)
		if op.Type == history.OK {
			e.weight = max(e.weight, 8)
		}
	case op.F == history.Extend:
		e.text, e.result = "extended its lease of "+clean(op.Lock)+until(op), answer(st)
	case op.F == history.Release:
		e.text, e.result = "released "+clean(op.Lock), answer(st)
		e.weight = max(e.weight, 6)
		if st.call != nil && st.call == s.release.call {
			e.weight = 11
			if st.end == nil || op.Type == history.Info {
				e.result = "no answer: it may arrive later"
			}
		}
	case op.F == history.Read:
		e.text, e.result = "read "+payload(op)+withToken(op), answer(st)
		e.weight -= 3
	case op.F == history.Write:
		e.text, e.result = "wrote "+payload(op)+withToken(op), answer(st)
		e.weight = max(e.weight, 7)
		if s.stale(*op) {
			e.result, e.bad, e.weight = e.result+"   STALE", true, 11
		}
	default:
		return e, false
	}
	return e, true
}

func (s *scene) acquireText(st step) (text, result string) {
	filled := st.filled()
	op := &filled
	lock := clean(op.Lock)
	switch {
	case st.end == nil || op.Type == history.Info:
		return "asked for " + lock, "no answer: it may have been granted"
	case op.Type == history.Fail && op.Outcome == history.Busy:
		return fmt.Sprintf("asked for %s at %s", lock, at(callTime(st))), "answer: busy"
	case op.Type == history.Fail:
		return fmt.Sprintf("asked for %s at %s", lock, at(callTime(st))), notGranted(op)
	}
	text = "acquired " + lock
	if op.Outcome == history.Late {
		text = "was granted " + lock + " after it had given up"
	}
	if op.Mode == history.Shared {
		text += " (shared)"
	}
	if op.Token != 0 {
		text += fmt.Sprintf(", token %d", op.Token)
	}
	if end := leaseEnd(s.h, op, st.call); end != never {
		length := op.TTL
		if length == 0 {
			length = end - op.Time
		}
		ends := "ends"
		if op.Valid > 0 {
			ends = "valid until"
			if end < op.Time {
				ends = "over since"
			}
		}
		text += fmt.Sprintf(", lease %s (%s %s)", long(length), ends, at(end))
	}
	return text, ""
}

// notGranted says why, if that fits a line.
func notGranted(op *history.Op) string {
	if text := clean(op.Error); text != "" && len(text) <= 16 {
		return "not granted: " + text
	}
	return "not granted"
}

func callTime(st step) time.Duration {
	if st.call == nil {
		return st.op().Time
	}
	return st.call.Time
}

func until(op *history.Op) string {
	if op.Valid > 0 {
		return " to " + at(op.Valid)
	}
	return ""
}

func withToken(op *history.Op) string {
	if op.Token == 0 {
		return ""
	}
	return fmt.Sprintf(" with token %d", op.Token)
}

// answer says what became of a release, an extend, a read or a write.
func answer(st step) string {
	op := st.op()
	if st.end == nil || op.Type == history.Info {
		if op.F == history.Write {
			return "no answer: it may have landed"
		}
		return "no answer"
	}
	text := outcome(op)
	if op.F == history.Release && st.call != nil && op.Time-st.call.Time > 10*time.Millisecond {
		text = "answered at " + at(op.Time) + strings.TrimPrefix(text, "answer")
	}
	return text
}

func outcome(op *history.Op) string {
	switch {
	case op.F == history.Write && op.Type == history.OK:
		return "accepted"
	case op.Outcome == history.Rejected:
		return "refused"
	case op.F == history.Read:
		return ""
	case op.Outcome == history.NotHeld:
		return "answer: not the owner"
	case op.Outcome == history.Gone:
		return "answer: ok (no proof that it was held)"
	case op.Type == history.Fail:
		return "failed: it changed nothing"
	}
	return "answer: ok"
}

// leaseEnds tells when leases ended that a client held beyond them.
func (s *scene) leaseEnds() []event {
	var out []event
	for _, g := range s.grants {
		if g.granted == never || g.leaseEnd == never || g.leaseEnd > min(g.stop, s.to) || g.leaseEnd < g.granted {
			continue
		}
		e := event{at: g.leaseEnd, text: "the lease of " + g.client + " ends", weight: 8}
		for i := range s.faults {
			if f := &s.faults[i]; f.stops(g.client) && f.from <= g.leaseEnd && g.leaseEnd <= f.to && s.silent(g.client, f.from, f.to) {
				e.text += "; " + g.client + " cannot notice, it is paused"
			}
		}
		out = append(out, e)
	}
	return out
}

func (s *scene) faultEvents() []event {
	var out []event
	for _, f := range s.faults {
		who := ""
		if len(f.targets) == 1 {
			who = f.targets[0]
		}
		if !s.crashTold(f) {
			out = append(out, event{at: f.from, who: who, mark: true, text: f.text, weight: 9})
		}
		if f.to != never {
			out = append(out, s.faultEnds(f, who))
		}
	}
	return out
}

// faultEnds tells the end of a fault. It is recorded once everything is healed; what a client did before that, with the
// pause already over, comes after its resume.
func (s *scene) faultEnds(f fault, who string) event {
	e := event{at: f.to, who: who, mark: true, text: f.ending(who) + ", after " + long(f.to-f.from), weight: 6, first: true}
	for n := range s.h.Ops {
		op := &s.h.Ops[n]
		if op.Time > f.to {
			break
		}
		if f.stops(who) && op.Client == who && op.Time > max(f.from, f.to-slack) && op.Time < f.to && ownDeed(op) {
			e.at, e.text = op.Time, f.ending(who)+" by now, after "+long(op.Time-f.from)
			break
		}
	}
	if s.held != nil && s.held.begin == f.begin {
		e.weight = 11
	}
	return e
}

// ownDeed says whether an event shows that its client ran: an answer may be recorded for a client that is stopped.
func ownDeed(op *history.Op) bool {
	return op.Type == history.Invoke || op.Type == history.Lost || op.Type == history.Renewed || op.Completes()
}

// silent says whether nothing of a client that was paused was recorded meanwhile.
func (s *scene) silent(client string, from, to time.Duration) bool {
	for n := range s.h.Ops {
		op := &s.h.Ops[n]
		if op.Client == client && op.Time > from+slack && op.Time < to-slack && ownDeed(op) {
			return false
		}
	}
	return s.h.Header.Separate
}

// crashTold says whether the begin of a fault is the death of a client that has a line of its own.
func (s *scene) crashTold(f fault) bool {
	return f.kind == "kill" && slices.ContainsFunc(s.steps, func(st step) bool {
		op := st.op()
		return op.Type == history.Crash && slices.Contains(f.targets, op.Client) && (op.Time-f.from).Abs() <= 100*time.Millisecond
	})
}

// ending says what the end of a fault was to its target.
func (f *fault) ending(who string) string {
	switch {
	case f.kind == "pause" && who != "":
		return "resumed"
	case f.kind == "kill" && who != "":
		return "is back"
	}
	return f.kind + " ends"
}
