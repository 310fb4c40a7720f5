package checker

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// staleHold is what was found of a hold that outlasted its lease. However many others it met, it is one finding: the
// first overlap that counts most.
type staleHold struct {
	first Finding
	met   int
}

// outlasted reports a hold that outlasted its lease until somebody else held: a's, or b's if a's lease went on.
func (e *leaseJudge) outlasted(a, b *tenure, deadline time.Duration) {
	at, to := b.ac, min(a.stop, b.stop, e.v.end)
	if to <= at {
		return
	}
	late, other := a, b
	if deadline > at { // a's own lease had not ended: it is b's that was over
		late, other, deadline = b, a, e.v.deadline(b, &e.l.contract, at)
	}
	f := e.finding(StaleHolder, a, b, at, to)
	f.Ops = e.v.events(a.acq, a.stopBy, b.acq)
	f.Blame = ClientParty
	if f.Strength == Definite {
		f.Strength = e.stallOr(Hazard, late, min(deadline, at), at)
	}
	f.Message = fmt.Sprintf("%s and %s held %s at the same time for %s: the lease of %s%s ended at %s, but it counted as holder until %s; %s was granted it%s at %s.",
		e.client(a), e.client(b), quoted(e.l.name), seconds(to-at), e.client(late), tokenWords(e.token(late)), seconds(deadline),
		seconds(min(late.stop, e.v.end)), e.client(other), tokenWords(e.token(other)), seconds(other.ac))
	if f.Strength == UnderStall {
		f.Message += " The host stalled in that time, which nobody had asked for."
	}
	e.keepStale(late.grant, f)
}

// stallOr returns UnderStall where the host may have kept t's client from noticing, between the end of its lease and
// at, and no injected fault did.
func (e *leaseJudge) stallOr(s Strength, t *tenure, deadline, at time.Duration) Strength {
	client := e.v.clients.text[e.v.grants[t.grant].client]
	if _, stalled := e.v.stalled(client, deadline, at); stalled && !e.v.meantFor(client, deadline, at) {
		return UnderStall
	}
	return s
}

// sessions compares two holds that end with their sessions. Where a fault may have cut a's session, its client is a
// stale holder; else the service granted the lock twice.
func (e *leaseJudge) sessions(a, b *tenure) {
	at, to := b.ac, min(a.stop, b.stop, e.v.end)
	if to <= at {
		return
	}
	client := e.client(a)
	kind, blame := DoubleGrant, Service
	if e.v.touched(client, a.ai, at) {
		kind, blame = StaleHolder, ClientParty
	}
	f := e.finding(kind, a, b, at, to)
	f.Ops, f.Blame = e.v.events(a.acq, a.stopBy, b.acq), blame
	if _, stalled := e.v.stalled(client, a.ai, at); stalled && kind == DoubleGrant {
		f.Kind, f.Blame, f.Strength = StaleHolder, ClientParty, UnderStall
	} else if kind == StaleHolder && f.Strength == Definite {
		f.Strength = Hazard
	}
	f.Message = fmt.Sprintf("%s and %s held %s at the same time for %s: %s was granted it%s at %s and counted as holder until %s; %s was granted it%s at %s.",
		client, e.client(b), quoted(e.l.name), seconds(to-at), client, tokenWords(e.token(a)), seconds(a.ac),
		seconds(min(a.stop, e.v.end)), e.client(b), tokenWords(e.token(b)), seconds(b.ac))
	if f.Kind == StaleHolder {
		e.keepStale(a.grant, f)
	} else {
		e.keep(f)
	}
}

func (e *leaseJudge) keepStale(late int32, f Finding) {
	h := e.stale[late]
	if h.met == 0 || standing(f.Strength) < standing(h.first.Strength) {
		h.first = f
	}
	h.met++
	e.stale[late] = h
	if standing(f.Strength) == 0 {
		e.r.numbers["stale_seconds"] += (f.Until - f.At).Seconds()
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

// staleHolds adds the findings that were put together.
func (e *leaseJudge) staleHolds() {
	for _, late := range slices.Sorted(maps.Keys(e.stale)) {
		h := e.stale[late]
		switch standing(h.first.Strength) {
		case 0:
			e.r.numbers["stale_holders"]++
		case 1:
			e.stalls++
		default:
			e.listed++
		}
		if h.met > 1 {
			h.first.Message += fmt.Sprintf(" It met %s after that one.", count(h.met-1, "more hold"))
		}
		e.r.add(h.first)
	}
}
