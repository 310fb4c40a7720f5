package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/locktest/locktest/history"
)

// Kinds of finding of Fencing.
const (
	TokenReuse   = "token-reuse"   // two grants carry one token
	TokenOrder   = "token-order"   // tokens do not rise in the order in which the lock was held
	TokenMissing = "token-missing" // a grant carries none, although the lock promises one
	TokenForged  = "token-forged"  // a write carried a token that its writer was not granted
)

// judgeFencing asks whether tokens tell holders apart and rise in the order of their holds.
func judgeFencing(ctx context.Context, v *view) Result {
	var rs []*ruling
	for i := range v.locks {
		if ctx.Err() == nil {
			rs = append(rs, fencingOf(v, &v.locks[i]))
		}
	}
	r := sum(rs)
	if r.Verdict != NotApplicable {
		r.Summary = fmt.Sprintf("%s, %s", count(int(r.Numbers["tokens"]), "token"), disorderWords(r.Findings))
	}
	return r
}

// disorderWords counts what is wrong with tokens by kind.
func disorderWords(fs []Finding) string {
	if len(fs) == 0 {
		return "each new and in order"
	}
	n := map[string]int{}
	for i := range fs {
		n[fs[i].Kind]++
	}
	var parts []string
	for _, k := range []struct{ kind, words string }{{TokenOrder, "out of order"}, {TokenReuse, "used twice"}, {TokenMissing, "missing"}, {TokenForged, "forged"}} {
		if n[k.kind] > 0 {
			parts = append(parts, grouped(n[k.kind])+" "+k.words)
		}
	}
	return strings.Join(parts, ", ")
}

// fenced is a grant with a token, and how long it certainly lasted.
type fenced struct {
	grant  int32
	acq    int32
	ai, ac time.Duration
	// until is when the hold may have ended at the earliest: after ac if it was certainly in force when the reply came.
	until time.Duration
	alive bool
	token uint64
}

func fencingOf(v *view, l *lockView) *ruling {
	r := newRuling()
	switch {
	case l.contract.Tokens != history.PerGrant && l.contract.Tokens != history.PerSession:
		r.verdict, r.why = NotApplicable, fmt.Sprintf("%s gives no fencing tokens", quoted(l.name))
		return r
	case l.contract.NonExclusive:
		r.verdict, r.why = NotApplicable, "the lock claims no exclusion"
		return r
	}
	fs := v.fenced(l, r)
	r.numbers["tokens"] = float64(len(fs))
	if l.contract.Tokens == history.PerSession {
		r.complete, r.why = false, "tokens are per session: their order says nothing"
	} else {
		tokenReuse(v, l, fs, r)
		if l.contract.Permits <= 1 && !l.contract.Shared && l.contract.Reentry == 0 {
			tokenOrder(v, l, fs, r)
		}
	}
	forged(v, l, r)
	if strictLock(l) && l.holds().open > 0 {
		r.complete, r.why = false, l.holds().openWords()
	}
	switch {
	case len(r.findings) > 0:
		r.verdict = Violated
	case len(fs) < 2:
		r.verdict, r.why = Inconclusive, "there were no two tokens to compare"
	}
	return r
}

// fenced returns the grants with tokens in the order of those; a grant without one is a finding.
func (v *view) fenced(l *lockView, r *ruling) []fenced {
	ts := l.tenures()
	out := make([]fenced, 0, len(ts))
	ends := v.strictEnds(l)
	for i := range ts {
		t := &ts[i]
		token := v.grants[t.grant].token
		if token == 0 {
			r.add(v.tokenFinding(l, TokenMissing, t.acq, -1, "%s was granted %s at %s without a fencing token, which the lock promises with each grant.",
				v.client(&v.ops[t.acq]), quoted(l.name), seconds(t.ac)))
			continue
		}
		f := fenced{grant: t.grant, acq: t.acq, ai: t.ai, ac: t.ac, token: token}
		f.until, f.alive = v.lasts(l, t, ends)
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b fenced) int { return cmp.Or(cmp.Compare(a.token, b.token), cmp.Compare(a.ac, b.ac)) })
	return out
}

// lasts says until when t certainly lasted. A hold without a lease lasts until its release is asked for; one of a
// session may end at any time.
func (v *view) lasts(l *lockView, t *tenure, ends *grantTimes) (until time.Duration, alive bool) {
	switch l.contract.Expiry {
	case history.Lease:
		if until, alive = t.inForce(); alive {
			return until, true
		}
		return min(t.legal, t.gone), false
	case history.Session:
		if times := v.certainTimes(l, t); len(times) > 0 {
			return times[0].to, true
		}
		return forever, false
	}
	if until = ends.get(t.grant); until > 0 {
		return until, true
	}
	return forever, false
}

// strictEnds returns, by grant, until when each certain hold of a lock without expiry lasted; 0: it is not certain.
func (v *view) strictEnds(l *lockView) *grantTimes {
	if !strictLock(l) {
		return nil
	}
	holds := l.holds().holds
	ends := v.ofGrants(l)
	for i := range holds {
		if !holds[i].float {
			ends.set(v.ops[holds[i].acq].grant, max(1, holds[i].ri))
		}
	}
	return ends
}

// grantedToken is the token of the grant that acquire acq made; 0: none, or not known.
func (v *view) grantedToken(acq int32) uint64 { return v.grants[v.ops[acq].grant].token }

func tokenReuse(v *view, l *lockView, fs []fenced, r *ruling) {
	for i := 1; i < len(fs); i++ {
		a, b := &fs[i-1], &fs[i]
		if a.token != b.token || l.contract.Reentry > 0 && v.grants[a.grant].owner == v.grants[b.grant].owner {
			continue
		}
		r.add(v.tokenFinding(l, TokenReuse, a.acq, b.acq, "token %d of %s was granted twice: to %s by %s and to %s by %s.",
			a.token, quoted(l.name), v.client(&v.ops[a.acq]), seconds(a.ac), v.client(&v.ops[b.acq]), seconds(b.ac)))
	}
}

// tokenOrder finds each grant that came after one with a higher token. Either its acquire was called after the other's
// had returned; or it was in force when the other's returned although the other's own time had passed before. Two
// grants that merely overlap, in whatever order, are left to mutual exclusion.
func tokenOrder(v *view, l *lockView, fs []fenced, r *ruling) {
	late := tokensOfTheDead(fs)
	var returned, ended *fenced // of those with higher tokens: the first to return, the first to end
	for i := len(fs) - 1; i >= 0; {
		j := i // one group of equal tokens
		for j >= 0 && fs[j].token == fs[i].token {
			low := &fs[j]
			switch {
			case returned != nil && returned.ac < low.ai:
				r.add(v.outOfOrder(l, low, returned))
			case low.alive && ended != nil && ended.until <= low.ac && ended.ac < low.until:
				r.add(v.outOfOrder(l, low, ended))
			case low.alive:
				if h := late.inside(low); h != nil {
					r.add(v.outOfOrder(l, low, h))
				}
			}
			j--
		}
		for k := i; k > j; k-- {
			returned, ended = earlier(returned, ended, &fs[k])
		}
		i = j
	}
}

func earlier(returned, ended, f *fenced) (*fenced, *fenced) {
	if returned == nil || f.ac < returned.ac {
		returned = f
	}
	if f.alive && (ended == nil || f.until < ended.until || f.until == ended.until && f.ac < ended.ac) {
		ended = f
	}
	return returned, ended
}

// dead are the grants whose own time had passed when their reply came, by that reply.
type dead []*fenced

func tokensOfTheDead(fs []fenced) dead {
	var d dead
	for i := range fs {
		if !fs[i].alive {
			d = append(d, &fs[i])
		}
	}
	slices.SortFunc(d, func(a, b *fenced) int { return cmp.Compare(a.ac, b.ac) })
	return d
}

// inside finds one with a higher token that returned while low was in force, and that may have ended before low began.
func (d dead) inside(low *fenced) *fenced {
	i := sort.Search(len(d), func(k int) bool { return d[k].ac > low.ac })
	for ; i < len(d) && d[i].ac < low.until; i++ {
		if d[i].token > low.token && d[i].until <= low.ac {
			return d[i]
		}
	}
	return nil
}

func (v *view) outOfOrder(l *lockView, low, high *fenced) Finding {
	a, b := v.client(&v.ops[low.acq]), v.client(&v.ops[high.acq])
	if high.ac < low.ai {
		return v.tokenFinding(l, TokenOrder, high.acq, low.acq, "%s was granted %s with token %d by %s; %s asked for it only at %s and got token %d, which is lower.",
			b, quoted(l.name), high.token, seconds(high.ac), a, seconds(low.ai), low.token)
	}
	return v.tokenFinding(l, TokenOrder, low.acq, high.acq, "%s held %s with token %d from %s to %s; %s got token %d, which is higher, by %s, and its own time had passed at %s: the tokens do not rise in the order of the holds.",
		a, quoted(l.name), low.token, seconds(low.ac), seconds(min(low.until, v.end)), b, high.token, seconds(high.ac), seconds(min(high.until, v.end)))
}

func (v *view) tokenFinding(l *lockView, kind string, a, b int32, format string, args ...any) Finding {
	last := &v.ops[max(a, b)]
	first := &v.ops[a]
	if b >= 0 && v.ops[b].call < first.call {
		first = &v.ops[b]
	}
	at := v.gaveUp(last)
	return Finding{
		Kind: kind, Lock: l.name, Blame: Service, Strength: Definite, At: at, Message: fmt.Sprintf(format, args...),
		Ops: v.events(a, b), Grants: v.grantIDs(a, b), Fault: v.faultAt(first.call, at),
	}
}

// forged finds writes under l whose token is not their grant's own.
func forged(v *view, l *lockView, r *ruling) {
	for t := range v.things {
		for _, i := range v.things[t].ops {
			o := &v.ops[i]
			token := v.done(o).Token
			if token == 0 {
				token = v.called(o).Token
			}
			if o.act != write || o.ans != okay || token == 0 || !v.under(o, l) {
				continue
			}
			g := &v.grants[o.grant]
			if v.acquired(o.grant) == nil || g.token == token {
				continue
			}
			f := v.tokenFinding(l, TokenForged, g.acq, i, "%s wrote to %s at %s with token %d, but was granted token %d.",
				v.client(o), quoted(v.things[t].Name), seconds(o.call), token, g.token)
			f.Blame, f.Resource = ClientParty, v.things[t].Name
			r.add(f)
		}
	}
}

// under says whether o belongs to a grant of l.
func (v *view) under(o *op, l *lockView) bool {
	if o.grant < 0 {
		return false
	}
	n := v.grants[o.grant].lock
	return n >= 0 && &v.locks[n] == l
}
