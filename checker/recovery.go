package checker

import (
	"fmt"
	"sort"
	"time"

	"github.com/locktest/locktest/history"
)

// gap is the longest pause between two attempts that still counts as asking all the time.
func (j *livenessJudge) gap() time.Duration { return max(250*time.Millisecond, j.bound/10) }

// demand returns the times in which somebody asked for the lock, with short pauses bridged. Who is stalled does not ask,
// and nobody does while the harness is.
func (j *livenessJudge) demand() []span {
	stalled := j.v.stallSpans()
	var out []span
	for _, i := range j.l.acquires {
		o := &j.v.ops[i]
		out = append(out, without([]span{{o.call, j.v.gaveUp(o)}}, stalled[j.v.client(o)])...)
	}
	return without(bridged(out, j.gap()), stalled[""])
}

// use returns the times in which the lock was held or may have been, from the reply that granted it; a fault in
// effect counts too, as it excuses that nobody is granted.
func (j *livenessJudge) use() []span {
	var out []span
	for i := range j.reach.ps {
		p := &j.reach.ps[i]
		if a := &j.v.ops[j.v.grants[p.grant].acq]; a.ans == okay || a.ans == unknown {
			out = append(out, span{p.since, p.to})
		}
	}
	for i := range j.v.faults {
		out = append(out, span{j.v.faults[i].from, j.v.faults[i].to})
	}
	return union(out)
}

// idle looks for times in which the lock was asked for and free, and nobody was granted it.
func (j *livenessJudge) idle() {
	longest := time.Duration(0)
	uses := j.use()
	for _, d := range j.asked {
		k := sort.Search(len(uses), func(k int) bool { return uses[k].to >= d.from })
		from := d.from
		for ; from < d.to; k++ {
			to := d.to
			if k < len(uses) {
				to = min(to, uses[k].from)
			}
			if to > from {
				longest = max(longest, to-from)
				j.stuck(from, to)
			}
			if k == len(uses) {
				break
			}
			from = max(from, uses[k].to)
		}
	}
	j.slowest["longest_idle_s"] = max(j.slowest["longest_idle_s"], longest.Seconds())
}

func (j *livenessJudge) stuck(from, to time.Duration) {
	if j.bound == 0 || to-from <= j.bound {
		return
	}
	pending := j.pending(from, to)
	f := j.finding(StuckLock, from, to, pending...)
	f.Message = fmt.Sprintf("%s was asked for from %s to %s (%s, limit %s), nobody can have held it and no fault was in effect, but nobody was granted it",
		quoted(j.l.name), seconds(from), seconds(to), seconds(to-from), seconds(j.bound))
	if p, ok := j.reach.last(from); ok {
		f.Ops = j.v.events(append(j.lastOps(p), pending...)...)
		client := j.v.clients.text[j.v.grants[p.grant].client]
		if p.crashed {
			f.Ops = ascending(append(f.Ops, int(j.v.grants[p.grant].crashEvent)))
			f.Message += fmt.Sprintf("; %s was killed while holding it, and its lease was over by then", client)
		} else {
			f.Message += fmt.Sprintf("; the last who can have held it was %s", client)
		}
	}
	f.Message += "."
	j.r.add(f)
}

// pending returns the first and the last attempt that were open in that time.
func (j *livenessJudge) pending(from, to time.Duration) []int32 {
	first, last := int32(-1), int32(-1)
	for _, i := range j.l.acquires {
		if o := &j.v.ops[i]; o.call <= to && j.v.gaveUp(o) >= from {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	return []int32{first, last}
}

// recoveries measures, for each fault, from its healing to the first grant. Time in which a client went on holding
// the lock doesn't count: nobody can be granted it then.
func (j *livenessJudge) recoveries() {
	uses := j.held()
	for i := range j.v.faults {
		w := &j.v.faults[i]
		if w.end < 0 {
			continue
		}
		from := j.after(uses, j.askedAfter(w.to))
		until, granted := j.nextGrant(from)
		if !granted {
			until = j.askedUntil(from)
		}
		if j.disturbed(w, from, until) || until <= from {
			continue
		}
		if granted {
			j.slowest["slowest_recovery_s"] = max(j.slowest["slowest_recovery_s"], (until - from).Seconds())
		}
		if j.bound > 0 && until-from > j.bound {
			j.noRecovery(w, from, until, granted)
		}
	}
}

// held returns the times in which a client counted as holder, or a release was under way. A lock without expiry stays
// with a holder that was killed.
func (j *livenessJudge) held() []span {
	var out []span
	if j.l.contract.Expiry != history.Lease && j.l.contract.Expiry != history.Session {
		for i := range j.reach.ps {
			p := &j.reach.ps[i]
			out = append(out, span{p.since, min(p.to, j.v.end)})
		}
		return union(out)
	}
	for _, t := range j.l.tenures() {
		end := min(t.stop, j.v.end)
		if t.stopBy >= 0 {
			end = max(end, j.v.gaveUp(&j.v.ops[t.stopBy]))
		}
		out = append(out, span{t.ac, end})
	}
	return union(out)
}

// after is at, or the end of the use that covers it.
func (j *livenessJudge) after(uses []span, at time.Duration) time.Duration {
	k := sort.Search(len(uses), func(k int) bool { return uses[k].to >= at })
	if k < len(uses) && uses[k].from <= at {
		return uses[k].to
	}
	return at
}

// askedAfter is when somebody first asked for the lock from at on.
func (j *livenessJudge) askedAfter(at time.Duration) time.Duration {
	for _, d := range j.asked {
		if d.to >= at {
			return max(at, d.from)
		}
	}
	return forever
}

// askedUntil is until when, from from on, somebody asked for the lock all the time.
func (j *livenessJudge) askedUntil(from time.Duration) time.Duration {
	for _, d := range j.asked {
		if d.from <= from && from <= d.to {
			return d.to
		}
	}
	return from
}

// nextGrant is the first reply, after at, by which the lock was granted.
func (j *livenessJudge) nextGrant(at time.Duration) (time.Duration, bool) {
	k := sort.Search(len(j.granted), func(k int) bool { return j.v.ops[j.granted[k]].ret > at })
	if k == len(j.granted) {
		return 0, false
	}
	return j.v.ops[j.granted[k]].ret, true
}

// disturbed says whether another fault was in effect in that time, or the asking had a gap.
func (j *livenessJudge) disturbed(w *window, from, until time.Duration) bool {
	if j.askedUntil(from) < until {
		return true
	}
	for i := range j.v.faults {
		if x := &j.v.faults[i]; x != w && x.meets(from, until) {
			return true
		}
	}
	return false
}

func (j *livenessJudge) noRecovery(w *window, from, until time.Duration, granted bool) {
	f := j.finding(NoRecovery, from, until, j.pending(from, until)...)
	f.Ops = ascending(append(f.Ops, w.end))
	f.Fault = w.number
	how := "nobody was granted it by then"
	if granted {
		how = "the next grant came only then"
	}
	f.Message = fmt.Sprintf("fault %d (%s) was healed at %s; %s was asked for from %s to %s (%s, limit %s), and %s.",
		w.number, w.kind, seconds(w.to), quoted(j.l.name), seconds(from), seconds(until), seconds(until-from), seconds(j.bound), how)
	j.r.add(f)
}

// takeovers measures, for each holder that died, from the earliest end of its lease to the next grant to others, while
// somebody asked for the lock.
func (j *livenessJudge) takeovers() {
	for _, t := range j.l.tenures() {
		crash := j.v.grants[t.grant].crash
		if crash == forever || t.stop != crash {
			continue
		}
		j.r.numbers["killed_holders"]++
		if next, ok := j.nextGrant(crash); ok && j.l.contract.Expiry != history.NoExpiry {
			j.took("slowest_takeover_s", max(crash, t.legal), next)
			j.took("slowest_free_after_kill_s", crash, next)
		}
	}
}

// took keeps the longest time from since, or else when somebody first asked after that, until next.
func (j *livenessJudge) took(number string, since, next time.Duration) {
	j.slowest[number] = max(j.slowest[number], (next - min(next, j.askedAfter(since))).Seconds())
}

// leaked looks at the end of the run, where each client asks for each lock once more. That nobody gets it is a leak,
// unless somebody may still have held it until after the last one gave up.
func (j *livenessJudge) leaked() {
	drain, ok := j.v.phases[history.PhaseDrain]
	if !ok || !j.v.tidied() {
		return
	}
	var tries []int32
	last := time.Duration(0)
	for _, i := range j.l.acquires {
		o := &j.v.ops[i]
		if o.call < drain {
			continue
		}
		if o.ans == okay {
			return
		}
		tries = append(tries, i)
		last = max(last, j.v.gaveUp(o))
	}
	if len(tries) == 0 || j.reach.meets(j.v, -1, last, last) || j.v.faultAt(last, last) != 0 {
		return
	}
	f := j.finding(LeakedLock, drain, last, tries...)
	j.doubt(&f, j.reach.lastEnd(last), last)
	f.Message = fmt.Sprintf("after the run, with everything healed, %s was asked for %d times from %s to %s and never granted, and nobody can have held it any more.%s",
		quoted(j.l.name), len(tries), seconds(drain), seconds(last), stallWords(f.Strength))
	j.r.add(f)
}
