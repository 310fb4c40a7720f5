package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/locktest/locktest/history"
)

// staleHold is a hold that outlasted its lease. However many others it met, it is one finding: the first overlap that
// counts most.
type staleHold struct {
	late, other *tenure
	b           *tenure // the one of the two that was granted last
	at, to      time.Duration
	deadline    time.Duration
	strength    Strength
	excuse      string // a sentence, under a stall
	slow        bool   // what excuses it is a reply that came late
	met         int
}

// outlasted notes a hold that outlasted its lease until somebody else held: a's, or b's if a's lease went on.
func (e *leaseJudge) outlasted(a, b *tenure, deadline time.Duration) {
	h := staleHold{late: a, other: b, b: b, at: b.ac, to: min(a.stop, b.stop, e.v.end), deadline: deadline}
	if h.to <= h.at {
		return
	}
	if deadline > h.at { // a's own lease had not ended: it is b's that was over
		if own := e.v.deadline(b, &e.l.contract, h.at); own <= h.at {
			h.late, h.other, h.deadline = b, a, own
		}
	}
	if h.strength = e.strength(h.at, h.to); h.strength == Definite {
		h.strength = Hazard
		e.excuse(&h)
	}
	e.keepStale(&h)
}

// excuse puts h under a stall where the host may have kept its client from noticing, between the end of its lease and
// the overlap, and no injected fault did; and so where the reply that granted it came late.
func (e *leaseJudge) excuse(h *staleHold) {
	client, from := e.client(h.late), min(h.deadline, h.at)
	if _, stalled := e.v.stalled(client, from, h.at); stalled && !e.v.meantFor(client, from, h.at) {
		h.strength, h.excuse = UnderStall, stallWords(UnderStall)
		return
	}
	if late, slow := e.v.slowReply(e.l, h.late); slow {
		h.strength, h.excuse, h.slow = UnderStall, slowWords(late), true
	}
}

// slowReply says by how much the reply that granted t was late, where that alone made t outlast its lease: held as
// long, it would have fitted into the lease had the reply come at once. A lease that was extended, or that a fault
// met, is not excused by that.
func (v *view) slowReply(l *lockView, t *tenure) (late time.Duration, slow bool) {
	a := &v.ops[t.acq]
	ttl := v.ttl(a, &l.contract)
	if l.contract.Expiry != history.Lease || ttl <= 0 || t.stop == forever || v.anyFault(t.ai, t.stop) {
		return 0, false
	}
	for _, i := range v.ofGrant(t.grant) {
		if o := &v.ops[i]; o.act == renewed || o.act == extend && o.ans == okay {
			return 0, false
		}
	}
	deadline := v.deadline(t, &l.contract, t.ac)
	late = t.ac - max(t.ai, deadline-ttl)
	held := t.stop - t.ac
	return late, late > max(time.Millisecond, v.discernible()) && held > deadline-t.ac && held <= deadline-t.ac+late
}

func slowWords(late time.Duration) string {
	return fmt.Sprintf(" The reply to the acquire came %d ms after it was asked for, and the hold did not fit into what was left of the lease.", late.Milliseconds())
}

// sessions compares two holds that end with their sessions. Where a fault may have cut a's session, its client is a
// stale holder; else the service granted the lock twice.
func (e *leaseJudge) sessions(a, b *tenure) {
	h := staleHold{late: a, other: b, b: b, at: b.ac, to: min(a.stop, b.stop, e.v.end)}
	if h.to <= h.at {
		return
	}
	client := e.client(a)
	h.strength = e.strength(h.at, h.to)
	if e.v.touched(client, a.ai, h.at) {
		if h.strength == Definite {
			h.strength = Hazard
		}
		e.keepStale(&h)
		return
	}
	if _, stalled := e.v.stalled(client, a.ai, h.at); stalled {
		h.strength = UnderStall
		e.keepStale(&h)
		return
	}
	e.doubled(doubling{a: a, at: h.at, to: h.to})
}

func (e *leaseJudge) sessionWords(a, b *tenure, both time.Duration) string {
	return fmt.Sprintf("%s and %s held %s at the same time for %s: %s was granted it%s at %s and counted as holder until %s; %s was granted it%s at %s.",
		e.client(a), e.client(b), quoted(e.l.name), seconds(both), e.client(a), tokenWords(e.token(a)), seconds(a.ac),
		seconds(min(a.stop, e.v.end)), e.client(b), tokenWords(e.token(b)), seconds(b.ac))
}

func (e *leaseJudge) keepStale(h *staleHold) {
	if standing(h.strength) == 0 {
		e.r.numbers["stale_seconds"] += (h.to - h.at).Seconds()
	}
	old := e.stale[h.late.grant]
	switch {
	case old == nil:
		h.met = 1
		e.stale[h.late.grant] = h
	case standing(h.strength) < standing(old.strength):
		h.met = old.met + 1
		e.stale[h.late.grant] = h
	default:
		old.met++
	}
}

// standing orders strengths by what they say against a pass.
func standing(s Strength) int {
	switch s {
	case UnderStall:
		return 1
	case UnderClocks:
		return 2
	}
	return 0
}

// staleHolds counts what was found, and puts the earliest of it into words.
func (e *leaseJudge) staleHolds() {
	all := make([]*staleHold, 0, len(e.stale))
	for _, h := range e.stale {
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b *staleHold) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.late.grant, b.late.grant))
	})
	for _, h := range all {
		switch h.strength {
		case UnderStall:
			e.stalls++
			e.slow += bit(h.slow)
		case UnderClocks:
			e.listed++
			e.tiny[1] += bit(!e.toldInTime(h))
		default:
			e.r.numbers["stale_holders"]++
		}
		if e.tell(h.strength) {
			e.r.add(e.staleFinding(h))
		}
	}
}

// toldInTime says whether h's client was told of the loss, which was recorded later only by what a reply takes.
func (e *leaseJudge) toldInTime(h *staleHold) bool {
	by := h.late.stopBy
	return by >= 0 && e.v.ops[by].act == lost && h.to-h.at <= e.v.header.Pipe
}

func (e *leaseJudge) staleFinding(h *staleHold) Finding {
	first := h.late
	if h.late == h.b {
		first = h.other
	}
	f := e.finding(StaleHolder, first, h.b, h.at, h.to)
	f.Ops, f.Blame, f.Strength = e.v.events(first.acq, first.stopBy, h.b.acq), ClientParty, h.strength
	if e.session {
		f.Message = e.sessionWords(first, h.b, h.to-h.at)
	} else {
		f.Message = fmt.Sprintf("%s and %s held %s at the same time for %s: the lease of %s%s ended at %s, but it counted as holder until %s; %s was granted it%s at %s.",
			e.client(first), e.client(h.b), quoted(e.l.name), seconds(h.to-h.at), e.client(h.late), tokenWords(e.token(h.late)), seconds(h.deadline),
			seconds(min(h.late.stop, e.v.end)), e.client(h.other), tokenWords(e.token(h.other)), seconds(h.other.ac))
	}
	f.Message += h.excuse
	if h.met > 1 {
		f.Message += fmt.Sprintf(" It met %s after that one.", count(h.met-1, "more hold"))
	}
	return f
}
