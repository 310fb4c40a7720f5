package runner

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
)

// Measure computes the metrics of a history until its drain phase, whose attempts don't count.
func Measure(h *history.History) Metrics {
	m := measured(h)
	faulty := covered(m.spans, m.length)
	return Metrics{Calm: m.calm.part(m.length - faulty), Faults: m.faults.part(faulty), All: m.all.part(m.length)}
}

// Times are all that were measured, of which a Part has the quantiles.
type Times struct{ Acquire, Wait, Hold, Handover []time.Duration }

// Measured returns the times of calm time and of that of faults, as Measure tells them apart.
func Measured(h *history.History) (calm, faults Times) {
	m := measured(h)
	return m.calm.times(), m.faults.times()
}

func (s *sample) times() Times { return Times{s.acquire, s.wait, s.hold, s.handover} }

func measured(h *history.History) *measurer {
	m := &measurer{h: h, spans: faultSpans(h), open: map[attemptKey]int{}, grants: map[int]time.Duration{}, freed: map[string]time.Duration{}, asking: map[askKey]time.Duration{}}
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Type == history.Phase && op.Name == history.PhaseDrain {
			m.drained(h.Ops[i:])
			break
		}
		m.length = op.Time
		m.event(op)
	}
	m.unanswered()
	return m
}

// drained looks in what comes after the begin of the drain for answers to what was asked before it.
func (m *measurer) drained(rest []history.Op) {
	m.length = rest[0].Time
	for i := range rest {
		op := &rest[i]
		k := attemptKey{op.Client, op.Thread, op.Process}
		if call, ok := m.open[k]; ok && op.Completes() {
			delete(m.open, k)
			if op.F == history.Acquire {
				m.attempt(&m.h.Ops[call], op)
			}
		}
	}
}

// unanswered counts the attempts that were open to the end.
func (m *measurer) unanswered() {
	for _, call := range m.open {
		if op := &m.h.Ops[call]; op.F == history.Acquire {
			m.each(op.Time, m.h.Ops[len(m.h.Ops)-1].Time, func(s *sample) { s.attempts, s.unknown = s.attempts+1, s.unknown+1 })
		}
	}
}

// answered takes the shares of attempts that were answered from the check that judges them, so that a bound is compared
// with what the report shows.
func (m *Metrics) answered(results []checker.Result) {
	for _, r := range results {
		if r.Property != checker.Availability {
			continue
		}
		for name, p := range map[string]*Part{"calm": &m.Calm, "faults": &m.Faults, "all": &m.All} {
			if share, ok := r.Numbers[name]; ok {
				p.Availability = share
			}
		}
	}
}

// span is the time in which a fault may have had an effect: from its begin to its end and a lease's length more.
type span struct{ from, to time.Duration }

func faultSpans(h *history.History) []span {
	type key struct {
		client  string
		process int
	}
	var ttl time.Duration
	for _, l := range h.Header.Locks {
		ttl = max(ttl, l.Contract.TTL)
	}
	open := map[key]int{}
	var spans []span
	for i := range h.Ops {
		op := &h.Ops[i]
		k := key{op.Client, op.Process}
		switch op.Type {
		case history.FaultBegin:
			open[k] = len(spans)
			spans = append(spans, span{op.Time, math.MaxInt64})
		case history.FaultEnd:
			if j, ok := open[k]; ok {
				spans[j].to = op.Time + ttl
			}
		}
	}
	return spans
}

// covered returns how much of [0, length] spans cover together.
func covered(spans []span, length time.Duration) time.Duration {
	sorted := slices.SortedFunc(slices.Values(spans), func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var sum, end time.Duration
	for _, s := range sorted {
		from, to := max(s.from, end), min(s.to, length)
		if to > from {
			sum, end = sum+to-from, to
		}
	}
	return sum
}

type attemptKey struct {
	client  string
	thread  int
	process int
}

// askKey is who waits for what. Another process of a client goes on waiting: what was asked without an answer wasn't granted.
type askKey struct {
	client string
	thread int
	lock   string
}

type measurer struct {
	h      *history.History
	spans  []span
	length time.Duration      // until the drain, or the last event
	open   map[attemptKey]int // the invocation of what is not answered
	grants map[int]time.Duration
	asking map[askKey]time.Duration // since when
	freed  map[string]time.Duration // when a release of the lock was last answered, until the next grant
	calm   sample
	faults sample
	all    sample
}

func (m *measurer) event(op *history.Op) {
	k := attemptKey{op.Client, op.Thread, op.Process}
	switch {
	case op.Type == history.Invoke:
		m.open[k] = op.Index
		if at, ok := m.grants[op.Grant]; ok && op.F == history.Release {
			delete(m.grants, op.Grant)
			m.each(at, op.Time, func(s *sample) { s.hold = append(s.hold, op.Time-at) })
		}
	case op.Completes():
		call, ok := m.open[k]
		delete(m.open, k)
		switch {
		case ok && op.F == history.Acquire:
			m.attempt(&m.h.Ops[call], op)
		case op.Type == history.OK && op.F == history.Release:
			m.freed[op.Lock] = op.Time
		}
	}
}

func (m *measurer) attempt(call, ret *history.Op) {
	granted := ret.Type == history.OK
	if granted {
		m.grants[ret.Grant] = ret.Time
	}
	m.each(call.Time, ret.Time, func(s *sample) {
		s.attempts++
		switch {
		case granted:
			s.granted++
			s.acquire = append(s.acquire, ret.Time-call.Time)
		case ret.Type == history.Info:
			s.unknown++
		case ret.Outcome == history.Busy:
			s.busy++
		default:
			s.failed++
		}
	})
	m.waited(call, ret, granted)
	if at, ok := m.freed[ret.Lock]; ok && granted {
		delete(m.freed, ret.Lock) // the next one waits for this grant's end
		if call.Time < at {       // it had waited for the release
			m.each(at, ret.Time, func(s *sample) { s.handover = append(s.handover, ret.Time-at) })
		}
	}
}

// waited notes since when a client has asked for a lock, and how long that was once it is granted.
func (m *measurer) waited(call, ret *history.Op, granted bool) {
	k := askKey{ret.Client, ret.Thread, ret.Lock}
	since, ok := m.asking[k]
	if !ok {
		since = call.Time
	}
	if !granted {
		m.asking[k] = since
		return
	}
	delete(m.asking, k)
	m.each(since, ret.Time, func(s *sample) { s.wait = append(s.wait, ret.Time-since) })
}

// each adds to the sample of all, and to that of calm time or of faults, by what [from, to] meets.
func (m *measurer) each(from, to time.Duration, add func(*sample)) {
	add(&m.all)
	for _, s := range m.spans {
		if from <= s.to && to >= s.from {
			add(&m.faults)
			return
		}
	}
	add(&m.calm)
}

type sample struct {
	attempts, granted, busy, unknown, failed int
	acquire, wait, hold, handover            []time.Duration
}

func (s *sample) part(length time.Duration) Part {
	p := Part{Attempts: s.attempts, Granted: s.granted, Busy: s.busy, Unknown: s.unknown, Failed: s.failed, Availability: 1,
		Acquire: quantiles(s.acquire), Wait: quantiles(s.wait), Hold: quantiles(s.hold), Handover: quantiles(s.handover)}
	if s.attempts > 0 {
		p.Availability = float64(s.granted+s.busy) / float64(s.attempts)
	}
	if length > 0 {
		p.Throughput = float64(s.granted) / length.Seconds()
	}
	return p
}

func quantiles(d []time.Duration) Quantiles {
	if len(d) == 0 {
		return Quantiles{}
	}
	slices.Sort(d)
	at := func(q float64) time.Duration { return d[min(len(d)-1, int(math.Ceil(q*float64(len(d))))-1)] }
	return Quantiles{N: len(d), P50: at(.5), P95: at(.95), P99: at(.99), Max: d[len(d)-1]}
}
