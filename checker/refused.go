package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// refusals walks through calls and refusals by time: a refusal needs a higher token that had been called before it was
// answered. It is sound, but a refusal for another reason may go unseen behind a higher token.
func (j *resourceJudge) refusals(l *lockView) {
	type moment struct {
		at     time.Duration
		answer bool
		op     int32
	}
	var ms []moment
	for _, i := range j.t.ops {
		o := &j.v.ops[i]
		if j.v.lockOf(o) != l || j.v.token(o) == 0 {
			continue
		}
		if o.ans == rejected {
			ms = append(ms, moment{o.ret, true, i})
		} else if o.ans != failed {
			ms = append(ms, moment{o.call, false, i})
		}
	}
	slices.SortFunc(ms, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(bit(a.answer), bit(b.answer)), cmp.Compare(a.op, b.op))
	})
	var top uint64
	for _, m := range ms {
		o := &j.v.ops[m.op]
		switch token := j.v.token(o); {
		case !m.answer:
			top = max(top, token)
		case top <= token && o.act == write && !isJob(j, m.op):
			f := j.finding(RefusedToken, ResourceParty, m.op, j.acquireOf(m.op))
			f.Message = fmt.Sprintf("%s refused a write of %s at %s with token %d, although nothing with a higher token had been asked of it before.",
				quoted(j.t.Name), j.v.client(o), seconds(o.ret), token)
			j.r.add(f)
		}
	}
}

// isJob says whether write i runs a job, which may have been refused because it ran before.
func isJob(j *resourceJudge, i int32) bool {
	_, ok := j.job(i)
	return ok
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
