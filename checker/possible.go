package checker

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/locktest/locktest/history"
)

// possible is the longest time for which a grant may have been held, known or not: from the acquire's call to the
// latest legal end. It proves nothing; it excuses a refusal, and that nobody is granted.
type possible struct {
	from, to time.Duration
	since    time.Duration // the reply that granted it; from where it is unknown
	grant    int32
	crashed  bool
}

// grace is by how much a service may be late to end a lease, beyond its TTL: services look for ended leases at
// intervals, of up to half a TTL.
func grace(ttl time.Duration) time.Duration { return max(time.Second, ttl/2) }

// possibles returns what may have been held of l, in the order of from.
func (v *view) possibles(l *lockView) []possible {
	out := make([]possible, 0, len(l.grants))
	for _, g := range l.grants {
		if a := v.grants[g].acq; a >= 0 && v.mayHold(l, &v.ops[a]) {
			out = append(out, v.possible(l, g))
		}
	}
	slices.SortStableFunc(out, func(a, b possible) int { return cmp.Compare(a.from, b.from) })
	return out
}

// mayHold says whether an acquire may have left something held. A try at several servers that failed may have, at
// some of them.
func (v *view) mayHold(l *lockView, a *op) bool {
	return a.ans == okay || a.ans == unknown || v.byQuorum(l)
}

// byQuorum says whether l is put together from locks on several servers. One that hands out tokens is decided in one
// place.
func (v *view) byQuorum(l *lockView) bool {
	c := &l.contract
	return c.Distributed && c.Expiry == history.Lease && c.Tokens != history.PerGrant && len(v.header.Nodes) != 1
}

func (v *view) possible(l *lockView, g int32) possible {
	a := &v.ops[v.grants[g].acq]
	p := possible{from: a.call, to: v.latestEnd(l, g), since: a.call, grant: g, crashed: v.grants[g].crash != forever}
	if a.ans == okay {
		p.since = a.ret
	}
	for _, i := range v.ofGrant(g) {
		o := &v.ops[i]
		freed := o.act == release && (o.ans == okay || o.ans == gone || o.ans == notHeld && a.ans == okay)
		if freed && (a.ans != failed && a.ans != busy) {
			p.to = min(p.to, o.ret)
		}
	}
	return p
}

// latestEnd is when g's lease or session was over at the latest; forever for a lock that does not expire.
func (v *view) latestEnd(l *lockView, g int32) time.Duration {
	c := &l.contract
	a := &v.ops[v.grants[g].acq]
	switch {
	case c.Expiry == history.Session:
		return v.sessionEnd(l, g)
	case c.Expiry != history.Lease:
		return forever
	}
	var end time.Duration
	for _, i := range v.ofGrant(g) {
		o := &v.ops[i]
		if o.act == acquire || o.act == extend && (o.ans == okay || o.ans == unknown) || o.act == renewed {
			ttl := v.ttl(o, c)
			if o.act == renewed {
				ttl = v.ttl(a, c)
			}
			if ttl <= 0 {
				return forever // a lease whose length nobody said
			}
			end = max(end, plus(v.settled(o), plus(scale(ttl, 1+c.Drift), grace(ttl))), plus(v.done(o).Valid, v.slack))
		}
	}
	if c.Background && v.grants[g].crash == forever && !v.released(g) {
		return forever // who renews it is still alive
	}
	return end
}

// settled is when an operation's effect must have come about, if ever: its reply, or else, as what was on its way
// arrives when a fault is healed, the end of the faults that it met.
func (v *view) settled(o *op) time.Duration {
	if o.ret != forever {
		return o.ret
	}
	at := v.gaveUp(o)
	for i := range v.faults {
		if w := &v.faults[i]; w.meets(o.call, at) {
			at = max(at, w.to)
		}
	}
	return at
}

func (v *view) released(g int32) bool {
	return slices.ContainsFunc(v.ofGrant(g), func(i int32) bool { return v.ops[i].act == release })
}

// sessionEnd is known only of a holder that was killed or lost its session.
func (v *view) sessionEnd(l *lockView, g int32) time.Duration {
	ttl := l.contract.TTL
	end := v.grants[g].crash
	for _, i := range v.ofGrant(g) {
		if o := &v.ops[i]; o.act == lost {
			end = min(end, o.call)
		}
	}
	if end == forever {
		return forever
	}
	return plus(end, plus(scale(ttl, 1+l.contract.Drift), grace(ttl)))
}

// reach answers whether anything possible meets a time.
type reach struct {
	ps     []possible
	latest []time.Duration // of the ends up to here
	ended  []possible      // by end
}

func newReach(ps []possible) *reach {
	r := &reach{ps: ps, latest: make([]time.Duration, len(ps)), ended: slices.Clone(ps)}
	slices.SortStableFunc(r.ended, func(a, b possible) int { return cmp.Compare(a.to, b.to) })
	for i := range ps {
		r.latest[i] = ps[i].to
		if i > 0 {
			r.latest[i] = max(r.latest[i], r.latest[i-1])
		}
	}
	return r
}

// meets says whether something may have been held at some moment from from to to, other than by grants of acquire
// self.
func (r *reach) meets(v *view, self int32, from, to time.Duration) bool {
	met := false
	r.each(from, to, func(p possible) bool {
		met = v.grants[p.grant].acq != self
		return !met
	})
	return met
}

// each gives f what meets the time from from to to, until f returns false.
func (r *reach) each(from, to time.Duration, f func(possible) bool) {
	n := sort.Search(len(r.ps), func(k int) bool { return r.ps[k].from > to })
	for k := n - 1; k >= 0 && r.latest[k] >= from; k-- {
		if r.ps[k].to >= from && !f(r.ps[k]) {
			return
		}
	}
}

// last returns the possible hold that ended last of those that had ended by at.
func (r *reach) last(at time.Duration) (p possible, ok bool) {
	n := sort.Search(len(r.ended), func(k int) bool { return r.ended[k].to > at })
	if n == 0 {
		return possible{}, false
	}
	return r.ended[n-1], true
}

// lastEnd is when the last possible hold that had ended by at was over; 0: there was none.
func (r *reach) lastEnd(at time.Duration) time.Duration {
	p, _ := r.last(at)
	return p.to
}
