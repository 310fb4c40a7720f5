package reports

import (
	"slices"
	"strings"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
)

// suspect looks for the release by somebody else that may have made the lock free while it was held.
func (s *scene) suspect(known *clues) {
	r, how := known.freed(s.i)
	if how == unlikely {
		return
	}
	s.release = r
	if !slices.Contains(s.i.Grants, r.call.Grant) {
		s.freer = r.call.Grant
	}
	if first, second, ok := known.twice(s.i); ok && (r.end == nil || r.end.Type != history.OK || r.end.Time >= first.end.Time) {
		s.held = known.letThrough(r, first, second)
	}
}

// meet takes the faults that were active meanwhile, and where there was none the last one that had ended just before.
func (s *scene) meet(known *clues) {
	from := s.to
	for _, g := range s.grants {
		if !g.cause {
			from = min(from, g.begin())
		}
	}
	for _, f := range s.i.Findings {
		from = min(from, f.At)
	}
	var last *fault
	begun, _ := s.i.span()
	early := slices.ContainsFunc(known.faults, func(f fault) bool { return f.from <= begun && f.to >= from && s.concerns(f) })
	for n := range known.faults {
		f := &known.faults[n]
		if f.from > s.to || !s.concerns(*f) || f.from > begun && (early || s.held != nil) {
			continue // what came later explains nothing that an earlier one may have brought about
		}
		if f.to >= from || f == s.held {
			s.faults = append(s.faults, *f)
		} else if f.to+known.lease >= from && (last == nil || f.to > last.to) {
			last = f
		}
	}
	if len(s.faults) == 0 && last != nil {
		s.faults, s.before = []fault{*last}, true
	}
}

// concerns says whether a fault touched somebody in the scene: one of its clients, or a server.
func (s *scene) concerns(f fault) bool {
	if slices.ContainsFunc(s.i.Findings, func(x checker.Finding) bool { return x.Fault == f.number && f.number != 0 }) {
		return true
	}
	clients := s.clients()
	return len(f.targets) == 0 || slices.ContainsFunc(f.targets, func(t string) bool {
		return slices.Contains(clients, t) || slices.Contains(s.h.Header.Nodes, t) || !slices.Contains(s.h.Header.Clients, t)
	})
}

// injected pairs the begin and end of each fault of a history.
func injected(h *history.History) []fault {
	type key struct {
		client  string
		process int
		number  int
	}
	open := map[key]int{}
	var out []fault
	for n := range h.Ops {
		op := &h.Ops[n]
		k := key{op.Client, op.Process, op.Fault}
		switch op.Type {
		case history.FaultBegin:
			open[k] = len(out)
			out = append(out, fault{number: op.Fault, kind: string(op.F), text: clean(faultText(h, op)), targets: op.Targets, from: op.Time, to: never, begin: op})
		case history.FaultEnd:
			if at, ok := open[k]; ok {
				out[at].to, out[at].end = op.Time, op
				if op.Text != "" { // of what shows only in the end, that says more
					out[at].text = clean(faultText(h, op))
				}
				delete(open, k)
			}
		}
	}
	return out
}

// faultText is what was done, else the kind with its targets, else what was planned.
func faultText(h *history.History, op *history.Op) string {
	if op.Text != "" {
		return strings.TrimSuffix(op.Text, " (no process is signalled)") // the head of the screen says that of all
	}
	if len(op.Targets) > 0 {
		return string(op.F) + " " + strings.Join(op.Targets, ", ")
	}
	if op.Fault > 0 && op.Fault <= len(h.Header.Faults) && h.Header.Faults[op.Fault-1].Text != "" {
		return h.Header.Faults[op.Fault-1].Text
	}
	return string(op.F)
}

// stops says whether a fault keeps its targets from running.
func (f *fault) stops(client string) bool {
	return f.kind == "pause" && slices.Contains(f.targets, client)
}
