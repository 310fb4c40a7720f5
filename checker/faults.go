package checker

import (
	"slices"
	"strings"
	"time"

	"github.com/locktest/locktest/history"
)

// window is one time that a fault was in effect.
type window struct {
	from, to   time.Duration // to is the history's end where it was never healed
	number     int           // of the planned fault; 0: not said
	begin, end int           // events; end is -1 where it was never healed
	kind       string
	targets    []string
}

func (w *window) active(t time.Duration) bool { return w.from <= t && t <= w.to }

func (w *window) meets(from, to time.Duration) bool { return w.from <= to && from <= w.to }

func (w *window) hits(client string) bool { return slices.Contains(w.targets, client) }

// faultWindows pairs what began with what ended, first begun first ended for each planned fault.
func faultWindows(h *history.History, events []int32, end time.Duration) []window {
	var ws []window
	for _, i := range events {
		switch e := &h.Ops[i]; e.Type {
		case history.FaultBegin:
			ws = append(ws, window{e.Time, end, e.Fault, e.Index, -1, string(e.F), e.Targets})
		case history.FaultEnd:
			heal(ws, e)
		}
	}
	return ws
}

func heal(ws []window, e *history.Op) {
	for i := range ws {
		w := &ws[i]
		if w.end < 0 && w.number == e.Fault && (len(e.Targets) == 0 || slices.Equal(w.targets, e.Targets)) {
			w.to, w.end = e.Time, e.Index
			return
		}
	}
}

// faultAt is the number of the fault that was active at t, or else of the last one that was active after since; 0: none.
func (v *view) faultAt(since, t time.Duration) int {
	number := 0
	for i := range v.faults {
		w := &v.faults[i]
		if w.active(t) {
			return w.number
		}
		if w.meets(since, t) {
			number = w.number
		}
	}
	return number
}

// stall is a time in which the host gave a process no CPU although nobody had asked for that.
type stall struct {
	from, to time.Duration
	client   string // empty: the harness, and so everybody
	event    int
}

// stalls leaves out those of clients that the harness itself had paused or slowed down.
func stalls(h *history.History, events []int32, faults []window) []stall {
	var out []stall
	for _, i := range events {
		e := &h.Ops[i]
		s := stall{e.Time - e.TTL, e.Time, e.Client, e.Index}
		meant := func(w window) bool { return s.client != "" && w.hits(s.client) && w.meets(s.from, s.to) }
		if !slices.ContainsFunc(faults, meant) {
			out = append(out, s)
		}
	}
	return out
}

// stalled finds a stall that met client's time from from to to.
func (v *view) stalled(client string, from, to time.Duration) (stall, bool) {
	for _, s := range v.stalls {
		if (s.client == "" || s.client == client) && s.from <= to && from <= s.to {
			return s, true
		}
	}
	return stall{}, false
}

// stallSpans returns, by client, the times in which it stalled, in order and apart; those of the harness, and so of
// everybody, by the empty name.
func (v *view) stallSpans() map[string][]span {
	out := map[string][]span{}
	for _, s := range v.stalls {
		out[s.client] = append(out[s.client], span{s.from, s.to})
	}
	for client, spans := range out {
		out[client] = union(spans)
	}
	return out
}

// anyStall says whether the host stalled anybody in that time.
func (v *view) anyStall(from, to time.Duration) bool {
	return slices.ContainsFunc(v.stalls, func(s stall) bool { return s.from <= to && from <= s.to })
}

// stallWords is what a message adds about a stall.
func stallWords(s Strength) string {
	if s != UnderStall {
		return ""
	}
	return " The host stalled in that time, which nobody had asked for."
}

// meantFor says whether one fault on client was in effect from from to to: then nothing else is needed to explain what
// client missed in that time.
func (v *view) meantFor(client string, from, to time.Duration) bool {
	for i := range v.faults {
		if w := &v.faults[i]; w.hits(client) && w.from <= from && to <= w.to {
			return true
		}
	}
	return false
}

// touched says whether a fault may have cut client's session in that time: one on the client, on a node, or on nobody
// in particular. Trouble of other clients alone does not.
func (v *view) touched(client string, from, to time.Duration) bool {
	for i := range v.faults {
		w := &v.faults[i]
		if w.meets(from, to) && (w.hits(client) || len(w.targets) == 0 || v.hitsNode(w)) {
			return true
		}
	}
	return false
}

func (v *view) hitsNode(w *window) bool {
	return slices.ContainsFunc(w.targets, func(t string) bool {
		_, client := v.clients.of[t]
		return !client || strings.HasPrefix(w.kind, "partition")
	})
}
