package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locktest/locktest/history"
)

// Kinds of finding of Permits, ReadWrite and Reentrancy.
const (
	TooMany        = "too-many-permits" // more permits out than there are
	WriterNotAlone = "writer-not-alone" // an exclusive hold together with another
	TooDeep        = "too-deep"         // granted to its holder more often than the limit
	NestedToken    = "nested-token"     // a nested grant carries another token than the outer one
)

// judgePermits asks whether a semaphore ever had more permits out than it has.
func judgePermits(ctx context.Context, v *view) Result {
	return v.crowded(ctx, TooMany, "no lock has permits",
		func(c *history.Contract) bool { return c.Permits > 0 },
		func(holds []hold, c *history.Contract) []crowding { return sweepPermits(holds, int64(c.Permits)) },
		v.tooMany)
}

// judgeReadWrite asks whether an exclusive holder was ever in together with another.
func judgeReadWrite(ctx context.Context, v *view) Result {
	return v.crowded(ctx, WriterNotAlone, "no lock has a shared mode",
		func(c *history.Contract) bool { return c.Shared && c.Permits == 0 },
		func(holds []hold, _ *history.Contract) []crowding { return sweepReadWrite(holds) },
		v.notAlone)
}

// readersAtOnce is how many shared holds there were at one moment, at most: 1 is a lock that shares nothing.
func readersAtOnce(holds []hold) int {
	type edge struct {
		at  time.Duration
		end bool
	}
	var edges []edge
	for i := range holds {
		if h := &holds[i]; h.shared && !h.float && h.ri > h.ac {
			edges = append(edges, edge{h.ac, false}, edge{h.ri, true})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(bit(b.end), bit(a.end))) })
	now, most := 0, 0
	for _, e := range edges {
		now += 1 - 2*bit(e.end)
		most = max(most, now)
	}
	return most
}

// crowded judges the locks that applies picks, by a sweep over their holds.
func (v *view) crowded(ctx context.Context, kind, none string, applies func(*history.Contract) bool,
	sweep func([]hold, *history.Contract) []crowding, tell func(*lockView, crowding) Finding) Result {
	var rs []*ruling
	for i := range v.locks {
		l := &v.locks[i]
		if ctx.Err() != nil || !applies(&l.contract) {
			continue
		}
		r := newRuling()
		r.engine = "sweep"
		holds := v.countable(l, r)
		r.numbers["holds"] = float64(len(holds))
		if kind == WriterNotAlone {
			r.numbers["readers_at_once"] = max(r.numbers["readers_at_once"], float64(readersAtOnce(holds)))
		}
		for _, c := range sweep(holds, &l.contract) {
			r.add(tell(l, c))
		}
		for _, c := range sweep(v.stalledHolds(l, r), &l.contract) {
			f := tell(l, c)
			f.Strength = UnderStall
			f.Message += stallWords(UnderStall)
			r.add(f)
		}
		v.discipline(l, r)
		r.conclude(len(holds) < 2)
		if strictLock(l) {
			v.settleOpen(ctx, l, r, kind, isAcquire)
		}
		rs = append(rs, r)
	}
	if len(rs) == 0 {
		return Result{Verdict: NotApplicable, Complete: true, Why: none, Summary: none}
	}
	r := sum(rs)
	counted := 0
	for i := range r.Findings {
		counted += bit(r.Findings[i].Strength != UnderStall)
	}
	r.Summary = fmt.Sprintf("%s, %s", count(int(r.Numbers["holds"]), "hold"), count(counted, "violation"))
	if n, ok := r.Numbers["readers_at_once"]; ok {
		r.Summary += fmt.Sprintf(", up to %s at once", count(int(n), "reader"))
	}
	return r
}

// conclude draws the verdict of a ruling whose findings all count, but for those under a stall.
func (r *ruling) conclude(tooFew bool) {
	stalls := 0
	for _, f := range r.findings {
		if f.Strength == UnderStall {
			stalls++
		} else {
			r.verdict = Violated
		}
	}
	if r.verdict == Held && stalls > 0 {
		r.verdict, r.why = Inconclusive, stalledWords(stalls)
	}
	if r.verdict == Held && tooFew {
		r.verdict, r.why = Inconclusive, "there were no two holds to compare"
	}
}

// countable returns the certain holds of l: what the answers prove, or with leases the times in which they were in
// force. A session counts while nothing had touched it, not even a stall.
func (v *view) countable(l *lockView, r *ruling) []hold {
	if strictLock(l) {
		n := l.holds()
		if n.open > 0 {
			r.complete, r.why = false, n.openWords()
		}
		return n.holds
	}
	return v.leased(l, v.certainTimes)
}

// stalledHolds are the holds of a lock with sessions as they are if no stall ended one, where r has found nothing without
// that and somebody stalled.
func (v *view) stalledHolds(l *lockView, r *ruling) []hold {
	if l.contract.Expiry != history.Session || len(v.stalls) == 0 || len(r.findings) > 0 {
		return nil
	}
	return v.leased(l, func(_ *lockView, t *tenure) []span { return v.sessionTimes(t, v.untouched(t)) })
}

// leased are the holds of l in the times that certain tells of each grant.
func (v *view) leased(l *lockView, certain func(*lockView, *tenure) []span) []hold {
	var out []hold
	for _, t := range l.tenures() {
		for _, s := range certain(l, &t) {
			o := &v.ops[t.acq]
			out = append(out, hold{ac: s.from, ri: s.to, rc: s.to, acq: t.acq, rel: t.stopBy, owner: v.grants[t.grant].owner,
				permits: v.permits(o), shared: o.shared})
		}
	}
	return out
}

// strictLock says whether l's grants do not end by themselves.
func strictLock(l *lockView) bool {
	return l.contract.Expiry != history.Lease && l.contract.Expiry != history.Session
}

// certainTimes are those in which t certainly held.
func (v *view) certainTimes(l *lockView, t *tenure) []span {
	if l.contract.Expiry == history.Session {
		end, client := v.untouched(t), v.client(&v.ops[t.acq])
		for _, s := range v.stalls {
			if s.to >= t.ai && (s.client == "" || s.client == client) {
				end = min(end, s.from)
			}
		}
		return v.sessionTimes(t, end)
	}
	var out []span
	for _, p := range t.pieces {
		out = append(out, span{p.from, p.end()})
	}
	return union(out)
}

// untouched is until when no fault may have cut t's session.
func (v *view) untouched(t *tenure) time.Duration {
	end := min(t.stop, v.end)
	for i := range v.faults {
		if w := &v.faults[i]; w.to >= t.ai && v.touched(v.client(&v.ops[t.acq]), w.from, w.to) {
			end = min(end, w.from)
		}
	}
	return end
}

func (v *view) sessionTimes(t *tenure, end time.Duration) []span {
	if end <= t.ac {
		return nil
	}
	return []span{{t.ac, end}}
}

func (n *normaliser) openWords() string {
	o := &n.v.ops[n.openOp]
	return fmt.Sprintf("%s went on with the same owner value after an unknown operation, first at event %d: of such holds only what is certain was compared",
		n.v.client(o), o.inv)
}

// discipline adds the second grants to an owner that holds, of a lock that can't be entered twice.
func (v *view) discipline(l *lockView, r *ruling) {
	if !strictLock(l) || l.contract.Reentry > 0 {
		return
	}
	for _, b := range l.holds().breaches {
		if b.kind == secondGrant {
			r.add(v.secondGrant(l, b))
		}
	}
}

func (v *view) tooMany(l *lockView, c crowding) Finding {
	f := v.crowdFinding(TooMany, l, c)
	total := int64(0)
	for _, h := range c.holds {
		total += int64(h.permits)
	}
	if c.float {
		last := c.holds[len(c.holds)-1]
		f.Message = fmt.Sprintf("%s of %s must have been taken by %s at some moment from %s to %s, as its release was answered OK, but %s held too many of the %d all that time.",
			count(int(last.permits), "permit"), quoted(l.name), v.holder(&last), seconds(c.at), seconds(c.to), v.holders(c.holds[:len(c.holds)-1]), l.contract.Permits)
		return f
	}
	f.Message = fmt.Sprintf("%s held %d permits of %s at once, from %s to %s, but there are %d.",
		v.holders(c.holds), total, quoted(l.name), seconds(c.at), seconds(min(c.to, v.end)), l.contract.Permits)
	return f
}

func (v *view) notAlone(l *lockView, c crowding) Finding {
	f := v.crowdFinding(WriterNotAlone, l, c)
	if c.float {
		last := c.holds[len(c.holds)-1]
		f.Message = fmt.Sprintf("%s must have held %s (%s) at some moment from %s to %s, as its release was answered OK, but %s held it all that time.",
			v.holder(&last), quoted(l.name), mode(&last), seconds(c.at), seconds(c.to), v.holders(c.holds[:len(c.holds)-1]))
		return f
	}
	a, b := &c.holds[0], &c.holds[1]
	f.Message = fmt.Sprintf("%s (%s) and %s (%s) both held %s from %s to %s (%s).",
		v.holder(a), mode(a), v.holder(b), mode(b), quoted(l.name), seconds(c.at), seconds(min(c.to, v.end)), seconds(min(c.to, v.end)-c.at))
	return f
}

func mode(h *hold) string {
	if h.shared {
		return history.Shared
	}
	return history.Exclusive
}

func (v *view) holder(h *hold) string { return v.client(&v.ops[h.acq]) }

func (v *view) holders(hs []hold) string {
	names := make([]string, len(hs))
	for i := range hs {
		names[i] = v.holder(&hs[i])
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func (v *view) crowdFinding(kind string, l *lockView, c crowding) Finding {
	var ops []int32
	first := time.Duration(forever)
	for _, h := range c.holds {
		ops = append(ops, h.acq, h.rel)
		first = min(first, v.ops[h.acq].call)
	}
	return Finding{
		Kind: kind, Lock: l.name, Blame: Service, Strength: Definite, At: c.at, Until: min(c.to, v.end),
		Ops: v.events(ops...), Grants: v.grantIDs(ops...), Fault: v.faultAt(first, c.at),
	}
}
