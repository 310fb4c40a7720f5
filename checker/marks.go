package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/locktest/locktest/history"
)

// marks finds accepted writes that are stale: done under a grant older than one that the resource had already seen, by
// a write or a read. Where the resource's own order is recorded that order decides, else only what certainly came
// before counts.
func (j *resourceJudge) marks() {
	for _, l := range j.fencedLocks() {
		log := j.log(l)
		if j.t.Ordered {
			j.inOrder(log)
		} else {
			j.byTime(log)
		}
	}
}

// fencedLocks are the locks with tokens under which the resource was used. Tokens of different locks don't compare.
func (j *resourceJudge) fencedLocks() []*lockView {
	var out []*lockView
	for _, i := range j.t.ops {
		if l := j.v.lockOf(&j.v.ops[i]); fences(l) && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// log returns what was accepted with a token of l, in the order of the decisions: the accepted operations by their
// replies, and each unknown write that was read just before the first reply that shows it.
func (j *resourceJudge) log(l *lockView) []ranked {
	var out []ranked
	for _, d := range j.decisions() {
		o := &j.v.ops[d.op]
		if t := j.v.token(o); t != 0 && j.v.lockOf(o) == l {
			out = append(out, ranked{op: d.op, token: t, call: o.call, at: d.at})
		}
	}
	return out
}

// decision is an operation that took effect, and the time by which it had.
type decision struct {
	op int32
	at time.Duration
}

func (j *resourceJudge) decisions() []decision {
	writers := map[int64]int32{} // unknown writes that have not been seen
	log := make([]int32, 0, len(j.t.ops))
	for _, i := range j.t.ops {
		o := &j.v.ops[i]
		switch {
		case o.ans == okay:
			log = append(log, i)
		case o.ans == unknown && o.act == write:
			writers[version(j.v, o)] = i
		}
	}
	slices.SortFunc(log, func(a, b int32) int { return cmp.Compare(j.v.ops[a].cmp, j.v.ops[b].cmp) })
	out := make([]decision, 0, len(log))
	for _, i := range log {
		o := &j.v.ops[i]
		if w, seen := writers[version(j.v, o)]; seen && o.act == read && j.v.ops[w].inv < o.cmp {
			delete(writers, version(j.v, o))
			out = append(out, decision{w, o.ret})
		}
		out = append(out, decision{i, o.ret})
	}
	return out
}

func (j *resourceJudge) inOrder(log []ranked) {
	top := -1
	for i := range log {
		if top >= 0 && log[i].token < log[top].token {
			j.stale(&log[i], &log[top])
		}
		if top < 0 || log[i].token > log[top].token {
			top = i
		}
	}
}

// byTime compares each operation with those that had been answered before it was called.
func (j *resourceJudge) byTime(log []ranked) {
	calls := slices.Clone(log)
	slices.SortStableFunc(calls, func(a, b ranked) int { return cmp.Compare(a.call, b.call) })
	top, next := -1, 0
	for i := range calls {
		for next < len(log) && log[next].at < calls[i].call {
			if top < 0 || log[next].token > log[top].token {
				top = next
			}
			next++
		}
		if top >= 0 && calls[i].token < log[top].token {
			j.stale(&calls[i], &log[top])
		}
	}
}

func (j *resourceJudge) stale(late, seen *ranked) {
	o := &j.v.ops[late.op]
	j.late[late.op] = true
	if o.act != write {
		j.r.numbers["stale_reads"]++
		return
	}
	j.r.numbers["stale_writes"]++
	f := j.finding(StaleWrite, ResourceParty, late.op, seen.op, j.acquireOf(late.op), j.acquireOf(seen.op))
	verb := "written"
	if j.v.ops[seen.op].act == read {
		verb = "read"
	}
	f.Message = fmt.Sprintf("%s accepted a write of %s at %s with token %d, after %s had %s it with token %d by %s.",
		quoted(j.t.Name), j.v.client(o), seconds(late.at), late.token, j.v.client(&j.v.ops[seen.op]), verb, seen.token, seconds(seen.at))
	f.Fenced = "yes"
	if j.t.Check == history.ChecksToken {
		f.Fenced = "no"
	} else {
		f.Strength, f.Blame = j.overran(late.op)
	}
	j.r.add(f)
}

// overran says who let op i come late. Under a lock with leases a hold that outlasts its lease is a hazard that only
// a check of tokens averts.
func (j *resourceJudge) overran(i int32) (Strength, Party) {
	o := &j.v.ops[i]
	l := j.v.lockOf(o)
	if o.grant < 0 || l == nil || j.v.acquired(o.grant) == nil || l.contract.Expiry != history.Lease && l.contract.Expiry != history.Session {
		return Definite, Service
	}
	t := j.v.tenure(l, o.grant, j.v.acquired(o.grant))
	deadline := j.v.deadline(&t, &l.contract, o.ret)
	if l.contract.Expiry == history.Lease && (deadline == 0 || deadline >= o.ret) {
		return Definite, Service
	}
	client := j.v.client(o)
	from := min(deadline, o.call)
	if l.contract.Expiry == history.Session {
		from = t.ac
	}
	if _, stalled := j.v.stalled(client, from, o.ret); stalled && !j.v.meantFor(client, from, o.call) {
		return UnderStall, ClientParty
	}
	if _, slow := j.v.slowReply(l, &t); slow {
		return UnderStall, ClientParty
	}
	return Hazard, ClientParty
}
