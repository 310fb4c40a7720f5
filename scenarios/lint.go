package scenarios

import (
	"fmt"
	"time"
)

// lint looks for scenarios that cannot show what they seem to ask: a run that tests nothing passes for the wrong reason.
func (d *decoder) lint() {
	d.lintTokens()
	if !d.sound("run.duration", "run.warmup", "run.settle", "lock.ttl", "lock.use") {
		return
	}
	d.lintSettle()
	d.lintAcquires()
	for i, f := range d.scenario.Faults {
		path := faultPath(i)
		if d.sound(path) && !d.neverRuns(path, i+1, f) {
			d.lintFault(path, f)
		}
	}
}

func (d *decoder) warn(p Problem) {
	p.Severity = Warning
	d.report(p)
}

// leases says whether a grant ends by itself; a portable scenario is judged as if it did.
func (d *decoder) leases() bool {
	l, ok := d.names.Locks[d.scenario.Lock.Use]
	return !ok || l.Leases
}

// faultsEnd is when the settle phase begins.
func (r Run) faultsEnd() time.Duration { return r.Duration - r.Settle }

func (d *decoder) lintTokens() {
	use := d.scenario.Lock.Use
	l, ok := d.names.Locks[use]
	if !ok || l.Tokens {
		return
	}
	for _, name := range d.propertyNames() {
		e := d.scenario.Expect[name]
		if !d.property(name).NeedsTokens || e.Pos.Line == 0 || e.Verdict == "any" || !d.sound("expect."+name) {
			continue
		}
		p := Problem{
			Code: CodeNoTokens, Severity: Warning, Message: fmt.Sprintf("%s is expected to be %s, but %s gives no tokens", name, e.Verdict, use),
			Place: d.at("expect."+name, "does not apply"), Related: d.related("lock.use", "the lock"), So: "not applicable counts as held",
		}
		if e.Verdict == "violated" {
			p.Severity, p.So = Error, "not applicable never counts as violated"
		}
		d.report(p)
	}
	if d.scenario.Workload.Resource == "checks-token" && d.sound("workload.resource") {
		d.warn(Problem{
			Code: CodeNothingFails, Message: fmt.Sprintf("the resource checks tokens, but %s gives none", use),
			Place: d.at("workload.resource", "accepts every write"), Related: d.related("lock.use", "the lock"),
		})
	}
}

func (d *decoder) lintSettle() {
	r, ttl := d.scenario.Run, d.scenario.Lock.TTL
	if !d.leases() || r.Settle >= ttl {
		return
	}
	d.warn(Problem{
		Code: CodeShortSettle, Message: "settle is shorter than a lease",
		Place: d.at("run.settle", "shorter than "+formatDuration(ttl)), Related: d.related("lock.ttl", "the lease"),
		So: "a lock that nobody released may not be free again at the end", Fix: fmt.Sprintf("use %s", formatDuration(ttl+2*time.Second)),
	})
}

// lintAcquires compares min-acquires with what fits into the run if every hold is as short as it can be.
func (d *decoder) lintAcquires() {
	s := &d.scenario
	if !d.sound("evidence.min-acquires", "workload.hold", "workload.locks", "clients.count", "workload.use") || s.Workload.Hold.Min == 0 {
		return
	}
	at, most := "evidence.min-acquires", int(s.Run.Duration/s.Workload.Hold.Min)*min(s.Workload.Locks, max(1, s.Clients.Count*s.Clients.Threads))
	if s.Lock.Mode == "shared" || s.Lock.Permits > 1 || s.Evidence.MinAcquires <= most {
		return
	}
	p := Problem{
		Code: CodeEvidence, Message: fmt.Sprintf("%d acquires are asked for, and at most %d fit into the run", s.Evidence.MinAcquires, most),
		Place: d.at(at, "too many"), Related: d.related("workload.hold", "each hold takes this long"), So: "the run will be inconclusive",
	}
	if d.related(at, "") == nil { // by default: the file has no such line to point at
		p.Place, p.Related = d.at("workload.hold", "each hold takes this long"), d.related("run.duration", "the run")
		p.So = fmt.Sprintf("evidence.min-acquires is %d unless said otherwise: the run will be inconclusive", s.Evidence.MinAcquires)
		p.Fix = fmt.Sprintf("write evidence: {min-acquires: N}, with N up to %d, or let the run last longer", most)
	}
	d.warn(p)
}

// neverRuns warns of a fault that can't begin.
func (d *decoder) neverRuns(path string, number int, f Fault) bool {
	t, end := f.Trigger, d.scenario.Run.faultsEnd()
	p := Problem{Code: CodeNeverRuns, Message: fmt.Sprintf("fault %d never runs", number)}
	switch {
	case t.At != nil && t.At.Min >= d.scenario.Run.Duration:
		p.Place = d.at(path+".at", "the run ends at "+formatDuration(d.scenario.Run.Duration))
		p.Related = d.related("run.duration", "the run")
	case t.At != nil && t.At.Min >= end:
		p.Place = d.at(path+".at", "faults end at "+formatDuration(end)+", when the settle phase begins")
		p.Related = d.related("run.settle", "the settle phase")
	case t.Every != nil && t.From >= d.until(t):
		p.Place = d.at(path+".from", "faults of this entry end at "+formatDuration(d.until(t)))
		p.Related = d.related(path+".until", "the end")
	case t.On == "extending" && d.scenario.Workload.Extend == 0 && d.sound("workload.extend"):
		p.Place, p.Fix = d.at(path+".on", "no client ever extends"), "set workload.extend"
	case t.On != "" && t.Chance == 0:
		p.Place = d.at(path+".chance", "never")
	default:
		return false
	}
	d.warn(p)
	return true
}

func (d *decoder) until(t Trigger) time.Duration {
	if end := d.scenario.Run.faultsEnd(); t.Until == 0 || t.Until > end {
		return end
	}
	return t.Until
}

func (d *decoder) lintFault(path string, f Fault) {
	d.lintPause(path, f)
	d.lintHits(path, f)
	if end := d.scenario.Run.faultsEnd(); f.Trigger.At != nil && f.Trigger.At.Min+f.For.Min > end {
		d.warn(Problem{
			Code: CodeCutShort, Message: "this fault reaches into the settle phase",
			Place:   d.at(path+".for", "healed at "+formatDuration(end)+", whatever this says"),
			Related: d.related("run.settle", "the settle phase"),
		})
	}
}

// lintPause warns of a pause that is over before the lease of the client that it stops can be.
func (d *decoder) lintPause(path string, f Fault) {
	s := &d.scenario
	if !d.names.Faults[f.Kind].StopsTime || !f.Args.hitsClients() || f.Args.Of == "waiter" || !d.leases() || !d.sound("workload.hold", "workload.extend") {
		return
	}
	before := s.Workload.Hold.Max
	if f.Trigger.On == "acquired" {
		before = f.Trigger.After.Max
	}
	if s.Workload.Extend > 0 {
		before = min(before, s.Workload.Extend)
	}
	if f.For.Max+before > s.Lock.TTL {
		return
	}
	d.warn(Problem{
		Code: CodeShortPause, Message: fmt.Sprintf("this %s cannot outlast the lease", f.Kind),
		Place: d.at(path+".for", "always shorter"), Related: d.related("lock.ttl", "the lease"),
		So:  "the lease is longer than what stops its holder, so that the run shows nothing about stale holders",
		Fix: fmt.Sprintf("use %s, or a shorter lease: --set lock.ttl=%s", formatSpan(Range{s.Lock.TTL + s.Lock.TTL/5, 2 * s.Lock.TTL}), formatDuration(outlasted(f.For.Min))),
	})
}

// outlasted is a lease, in round numbers, that a stop of that length outlasts.
func outlasted(stop time.Duration) time.Duration {
	ttl := stop * 4 / 5
	for _, unit := range []time.Duration{time.Second, 100 * time.Millisecond, 10 * time.Millisecond, time.Millisecond} {
		if ttl >= unit {
			return ttl.Truncate(unit)
		}
	}
	return ttl
}

// lintHits compares min-hits with how often the fault can begin.
func (d *decoder) lintHits(path string, f Fault) {
	least := d.scenario.Evidence.MinHits
	most, known := d.mostBegins(f.Trigger)
	if !known || least <= most || !d.sound("evidence.min-hits") {
		return
	}
	d.warn(Problem{
		Code: CodeEvidence, Message: fmt.Sprintf("%d hits of each fault are asked for, and this one begins at most %s", least, times(most)),
		Place: d.at(path, "this fault"), Related: d.related("evidence.min-hits", "too many"), So: "the run will be inconclusive",
	})
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func (d *decoder) mostBegins(t Trigger) (most int, known bool) {
	switch {
	case t.At != nil:
		return 1, true
	case t.Every != nil:
		most, known = int((d.until(t)-t.From)/t.Every.Min)+1, true
	}
	if t.Limit > 0 && (!known || t.Limit < most) {
		return t.Limit, true
	}
	return most, known
}
