package checker

import (
	"cmp"
	"slices"

	"github.com/locktest/locktest/history"
)

// askRegister asks whether accepted reads and writes fit a register, and, where the resource checks tokens and its own
// order is recorded, one that refuses lower tokens. It is not asked where versions are not unique.
func (v *view) askRegister(t *resourceView) (q question, ok bool) {
	q = question{Resource: t.Name, Model: ModelRegister}
	j := &resourceJudge{v: v, t: t, r: newRuling(), late: map[int32]bool{}}
	if !j.unique() {
		return q, false
	}
	j.registerOrder()
	fencing := t.Check == history.ChecksToken && t.Ordered && len(j.fencedLocks()) == 1
	bad := len(j.r.findings) > 0
	if fencing {
		q.Model = ModelFencedRegister
		j.marks()
		bad = bad || len(j.late) > 0
	}
	q.Moves = j.moves(fencing)
	q.Sweep = answerWord(bad)
	return q, true
}

// moves are the accepted operations, and the unknown writes. Where the resource's own order is recorded they are
// moments in that order.
func (j *resourceJudge) moves(fencing bool) []move {
	ops := slices.Clone(j.t.ops)
	slices.SortStableFunc(ops, func(a, b int32) int { return cmp.Compare(j.v.ops[a].cmp, j.v.ops[b].cmp) })
	var out []move
	for _, i := range ops {
		o := &j.v.ops[i]
		if o.ans != okay && !(o.act == write && o.ans == unknown) {
			continue
		}
		m := move{Owner: i, Kind: o.act, Value: version(j.v, o), Call: int64(o.call), Return: int64(o.ret), Unknown: o.ans == unknown}
		if j.t.Ordered {
			m.Call = int64(o.inv)
			m.Return = int64(forever)
			if o.ans == okay {
				m.Call, m.Return = int64(o.cmp), int64(o.cmp)
			}
		}
		if fencing {
			m.Token = j.v.token(o)
		}
		out = append(out, m)
	}
	return out
}

// unique says whether each written version is a new one.
func (j *resourceJudge) unique() bool {
	seen := map[int64]bool{0: true}
	for _, i := range j.t.ops {
		if o := &j.v.ops[i]; o.act == write && o.ans != failed {
			if seen[version(j.v, o)] {
				return false
			}
			seen[version(j.v, o)] = true
		}
	}
	return true
}
