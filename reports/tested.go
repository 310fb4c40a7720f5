package reports

import (
	"slices"

	"github.com/locktest/locktest/history"
)

// stopped says of the pauses of clients whether one met a hold, and whether a lease ended under one.
func stopped(h *history.History) (met, outlasted bool) {
	faults := slices.DeleteFunc(injected(h), func(f fault) bool { return f.kind != "pause" })
	if len(faults) == 0 {
		return false, false
	}
	for _, g := range lives(h) {
		for i := range faults {
			if f := &faults[i]; f.stops(g.client) && g.granted < f.to && f.from < g.stop {
				met = true
				outlasted = outlasted || slices.ContainsFunc(g.leases, func(l span) bool { return f.from <= l.to && l.to <= f.to && l.to < g.stop })
			}
		}
	}
	return met, outlasted
}

// lives are those of all grants, in no order.
func lives(h *history.History) map[int]*grant {
	out := map[int]*grant{}
	steps := pairs(h)
	for n := range h.Ops {
		if op := &h.Ops[n]; op.Type == history.Renewed || op.Type == history.Lost {
			steps = append(steps, step{end: op})
		}
	}
	for _, st := range steps {
		op := st.filled()
		if op.Grant == 0 {
			continue
		}
		if out[op.Grant] == nil {
			out[op.Grant] = &grant{id: op.Grant, client: op.Client, asked: never, granted: never, leaseEnd: never, stop: never, refused: never}
		}
		out[op.Grant].live(h, st)
	}
	return out
}

// untested says that pauses were over before any lease was; empty where one wasn't, or where they met no hold, or there are no leases.
func untested(h *history.History) string {
	if h == nil || !slices.ContainsFunc(h.Header.Locks, func(l history.Lock) bool { return l.Contract.Expiry == history.Lease }) {
		return ""
	}
	if met, outlasted := stopped(h); !met || outlasted {
		return ""
	}
	return "No lease ended while its holder was paused: the run shows nothing about stale holders. A shorter lease (--set lock.ttl=…) or longer pauses would."
}
