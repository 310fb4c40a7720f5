package checker

import (
	"context"
	"fmt"
	"time"

	"github.com/locktest/locktest/history"
)

// Kinds of finding of Liveness.
const (
	StuckLock    = "stuck-lock"    // asked for, held by nobody, and granted to nobody for too long
	NoRecovery   = "no-recovery"   // granted to nobody for too long after a fault was healed
	LeakedLock   = "leaked-lock"   // at the end nobody could get it
	FalseRefusal = "false-refusal" // "somebody else holds it", while nobody could
	RefusedToken = "refused-token" // a write was refused although no higher token had been seen
)

// judgeLiveness asks whether locks that were free were granted. Everything is measured against the header's bound, and
// only where somebody asked.
func judgeLiveness(ctx context.Context, v *view) Result {
	var rs []*ruling
	slowest := map[string]float64{}
	for i := range v.locks {
		if ctx.Err() != nil {
			break
		}
		j := &livenessJudge{v: v, l: &v.locks[i], r: newRuling(), bound: v.header.Bounds.RecoverWithin, slowest: slowest}
		rs = append(rs, j.judge())
	}
	refusals := newRuling()
	for i := range v.things {
		refusedTokens(v, &v.things[i], refusals)
	}
	deadlocks(v, refusals)
	if len(refusals.findings) > 0 {
		refusals.verdict = Violated
		rs = append(rs, refusals)
	}
	r := sum(rs)
	for k, n := range slowest {
		r.Numbers[k] = n
	}
	r.Summary = livenessWords(v, &r)
	return r
}

func livenessWords(v *view, r *Result) string {
	if r.Verdict == NotApplicable || r.Verdict == Inconclusive {
		return r.Why
	}
	limit := ""
	if b := v.header.Bounds.RecoverWithin; b > 0 {
		limit = fmt.Sprintf(" (limit %s)", seconds(b))
	}
	if s, ok := r.Numbers["slowest_recovery_s"]; ok && s < 0.001 {
		return "granted again at once after each fault" + limit
	} else if ok {
		return fmt.Sprintf("slowest recovery %.3f s after a fault%s", s, limit)
	}
	if s, ok := r.Numbers["slowest_takeover_s"]; ok {
		return fmt.Sprintf("slowest takeover %.3f s after the lease of a holder that died%s", s, limit)
	}
	return fmt.Sprintf("free and asked for, but not granted, for %.3f s at most%s", r.Numbers["longest_idle_s"], limit)
}

type livenessJudge struct {
	v       *view
	l       *lockView
	r       *ruling
	bound   time.Duration
	reach   *reach
	asked   []span  // times in which somebody asked for the lock, with short pauses bridged
	granted []int32 // acquires answered OK, by reply
	slowest map[string]float64
	stalls  int // findings under a stall
}

func (j *livenessJudge) judge() *ruling {
	j.r.engine = "sweep"
	j.reach = newReach(j.v.possibles(j.l))
	j.asked = j.demand()
	for _, t := range j.l.tenures() {
		j.granted = append(j.granted, t.acq)
	}
	if len(j.l.acquires) == 0 {
		j.r.verdict, j.r.why = Inconclusive, fmt.Sprintf("nobody asked for %s", quoted(j.l.name))
		return j.r
	}
	j.falseRefusals()
	j.recoveries()
	j.takeovers()
	j.leaked()
	j.idle()
	switch {
	case len(j.r.findings) > j.stalls:
		j.r.verdict = Violated
	case j.stalls > 0:
		j.r.verdict, j.r.why = Inconclusive, fmt.Sprintf("the host stalled, which nobody had asked for, and what nobody was granted then says nothing of %s", quoted(j.l.name))
	case len(j.granted) == 0:
		j.r.verdict, j.r.why = Inconclusive, fmt.Sprintf("%s was never granted", quoted(j.l.name))
	case j.bound == 0:
		j.r.complete, j.r.why = false, "the history states no bound, so times were measured but not judged"
	}
	return j.r
}

func (j *livenessJudge) finding(kind string, at, until time.Duration, ops ...int32) Finding {
	return Finding{
		Kind: kind, Lock: j.l.name, Blame: Service, Strength: Definite, At: at, Until: until,
		Ops: j.v.events(ops...), Grants: j.v.grantIDs(ops...), Fault: j.v.faultAt(at, at),
	}
}

// doubt makes f one under a stall where the host stalled between since, when the lock was free at the latest, and until:
// then the servers may have been late to notice that.
func (j *livenessJudge) doubt(f *Finding, since, until time.Duration) {
	if j.v.anyStall(since, until) {
		f.Strength = UnderStall
		j.stalls++
	}
}

// falseRefusals finds definite refusals at a time when nobody can have held the lock.
func (j *livenessJudge) falseRefusals() {
	c := &j.l.contract
	switch {
	case c.NonExclusive:
		return
	case c.Permits > 1 || c.Shared:
		j.crowdRefusals()
		return
	}
	var asks *reach // of a queue, those in it may be before one, though none of them holds yet
	if c.Blocking || c.FIFO {
		asks = j.asks()
	}
	for _, i := range j.l.acquires {
		o := &j.v.ops[i]
		if o.ans != busy {
			continue
		}
		j.r.numbers["refusals"]++
		if j.reach.meets(j.v, i, o.call, o.ret) || asks != nil && asks.meets(j.v, i, o.call, o.ret) {
			continue
		}
		f := j.finding(FalseRefusal, o.call, o.ret, i)
		since := "nobody had been granted it"
		if p, ok := j.reach.last(o.call); ok {
			f = j.finding(FalseRefusal, o.call, o.ret, append(j.lastOps(p), i)...)
			since = fmt.Sprintf("the last who can have held it, %s, held it until %s at the latest", j.v.clients.text[j.v.grants[p.grant].client], seconds(p.to))
		}
		j.doubt(&f, j.reach.lastEnd(o.call), o.ret)
		f.Message = fmt.Sprintf("%s asked for %s at %s and was told at %s that somebody else holds it, but nobody can have: %s.%s",
			j.v.client(o), quoted(j.l.name), seconds(o.call), seconds(o.ret), since, stallWords(f.Strength))
		j.r.add(f)
	}
}

// lastOps are the acquire of a possible hold and what ended it.
func (j *livenessJudge) lastOps(p possible) []int32 {
	ops := []int32{j.v.grants[p.grant].acq}
	for _, i := range j.v.ofGrant(p.grant) {
		if j.v.ops[i].act == release {
			return append(ops, i)
		}
	}
	return ops
}

// refusedTokens finds writes that were refused although nobody had called a write or a read with a higher token.
func refusedTokens(v *view, t *resourceView, r *ruling) {
	if t.Check != history.ChecksToken {
		return
	}
	j := &resourceJudge{v: v, t: t, r: r, late: map[int32]bool{}}
	for _, l := range j.fencedLocks() {
		j.refusals(l)
	}
}
