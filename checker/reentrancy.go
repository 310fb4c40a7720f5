package checker

import (
	"context"
	"fmt"

	"github.com/locktest/locktest/history"
)

// judgeReentrancy asks whether a re-entrant lock kept its limit, and gave nested grants their outer one's token. That
// its outermost holds exclude each other is for mutual exclusion.
func judgeReentrancy(ctx context.Context, v *view) Result {
	var rs []*ruling
	for i := range v.locks {
		if l := &v.locks[i]; ctx.Err() == nil && l.contract.Reentry > 0 {
			rs = append(rs, reentrancyOf(v, l))
		}
	}
	if len(rs) == 0 {
		return Result{Verdict: NotApplicable, Complete: true, Why: "no lock is re-entrant", Summary: "no lock is re-entrant"}
	}
	r := sum(rs)
	r.Summary = fmt.Sprintf("%s, %s", count(int(r.Numbers["nested"]), "nested grant"), count(len(r.Findings), "violation"))
	return r
}

func reentrancyOf(v *view, l *lockView) *ruling {
	r := newRuling()
	r.engine = "sweep"
	n := l.holds()
	for _, b := range n.breaches {
		if !strictLock(l) {
			break // that an earlier hold's lease had ended explains it
		}
		if b.kind == secondGrant {
			f := v.secondGrant(l, b)
			f.Kind = TooDeep
			o := &v.ops[b.ops[len(b.ops)-1]]
			f.Message = fmt.Sprintf("%s was granted %s once more at %s, although it held it %d times already, which is the limit.",
				v.client(o), quoted(l.name), seconds(o.ret), l.contract.Reentry)
			r.add(f)
		}
	}
	v.nested(l, n, r)
	if n.open > 0 {
		r.complete, r.why = false, n.openWords()
	}
	r.conclude(r.numbers["nested"] == 0)
	if r.verdict == Inconclusive {
		r.why = "no holder acquired again"
	}
	return r
}

// nested compares the tokens of grants that were certainly made within another of their owner.
func (v *view) nested(l *lockView, n *normaliser, r *ruling) {
	v.eachOwner(l, func(ids []int32) { v.nestedOf(l, n, ids, r) })
}

func (v *view) nestedOf(l *lockView, n *normaliser, ids []int32, r *ruling) {
	outer, depth := int32(-1), 0
	for k, i := range ids {
		o := &v.ops[i]
		if unsure(o) || n.overlaps(ids, k) {
			return
		}
		switch {
		case o.act == acquire && depth == 0:
			outer, depth = i, 1
		case o.act == acquire:
			depth++
			r.numbers["nested"]++
			if l.contract.Tokens == history.PerGrant && v.tokenOf(i) != v.tokenOf(outer) {
				r.add(v.tokenFinding(l, NestedToken, outer, i, "%s was granted %s with token %d within its grant with token %d.",
					v.client(o), quoted(l.name), v.tokenOf(i), v.tokenOf(outer)))
			}
		case (o.ans == okay || o.ans == gone) && depth > 0:
			depth--
		}
	}
}

func (v *view) tokenOf(acq int32) uint64 { return v.done(&v.ops[acq]).Token }
