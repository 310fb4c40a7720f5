package checker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/locktest/locktest/history"
)

// lostUpdates finds writes that were computed from one version: the second wiped out the first. The sections that took
// effect must form one chain, whatever the clocks say. A section took effect if it was accepted, or if it is unknown
// and somebody read its version or computed from it.
func (j *resourceJudge) lostUpdates() {
	next := map[int64]int32{}
	accepted := map[int64]bool{} // versions from which an accepted write was computed
	for _, i := range j.effective() {
		base, known := j.base(i)
		if !known {
			continue
		}
		if j.accepted(i) {
			j.lost += bit(accepted[base])
			accepted[base] = true
		}
		first, taken := next[base]
		if !taken {
			next[base] = i
			continue
		}
		j.lostUpdate(base, first, i)
	}
}

// effective returns the writes that took effect, in the order of their replies.
func (j *resourceJudge) effective() []int32 {
	writers := map[int64]int32{}
	took := map[int32]bool{}
	var work []int32
	for _, i := range j.t.ops {
		if o := &j.v.ops[i]; o.act == write && o.ans != failed && o.ans != rejected {
			writers[j.version(o)] = i
		}
	}
	see := func(version int64) {
		if i, ok := writers[version]; ok && !took[i] {
			took[i] = true
			work = append(work, i)
		}
	}
	for _, i := range j.t.ops {
		if o := &j.v.ops[i]; o.ans == okay && version(j.v, o) != 0 {
			see(version(j.v, o))
		}
	}
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		if base, known := j.base(i); known {
			see(base)
		}
	}
	out := make([]int32, 0, len(took))
	for i := range took {
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b int32) int {
		x, y := &j.v.ops[a], &j.v.ops[b]
		return cmp.Or(cmp.Compare(x.ret, y.ret), cmp.Compare(x.cmp, y.cmp), cmp.Compare(a, b))
	})
	return out
}

func (j *resourceJudge) version(o *op) int64 { return version(j.v, o) }

// version is what a write makes or a read returned; 0: the first one, or not said.
func version(v *view, o *op) int64 {
	if x := v.done(o).Value; x != 0 || o.act == read {
		return x
	}
	return v.called(o).Value
}

// base is the version that write i was computed from. The first version is 0, as is a base that nobody told: it counts
// only where the same grant had read that version.
func (j *resourceJudge) base(i int32) (version int64, known bool) {
	o := &j.v.ops[i]
	if b := j.v.called(o).Base; b != 0 {
		return b, true
	}
	if b := j.v.done(o).Base; b != 0 {
		return b, true
	}
	return 0, j.readFirst()[o.grant]
}

// readFirst holds the grants under which the first version was read.
func (j *resourceJudge) readFirst() map[int32]bool {
	if j.firsts == nil {
		j.firsts = map[int32]bool{}
		for _, i := range j.t.ops {
			if o := &j.v.ops[i]; o.act == read && o.ans == okay && o.grant >= 0 && version(j.v, o) == 0 {
				j.firsts[o.grant] = true
			}
		}
	}
	return j.firsts
}

// lostUpdate reports that b, answered after a, was computed from the same version.
func (j *resourceJudge) lostUpdate(base int64, a, b int32) {
	f := j.finding(LostUpdate, Service, b, a, j.acquireOf(a), j.acquireOf(b))
	f.At = min(j.v.gaveUp(&j.v.ops[a]), j.v.gaveUp(&j.v.ops[b]))
	f.Strength, f.Blame = j.blame(a, b)
	f.Fenced = j.wouldFence(a, b)
	f.Message = fmt.Sprintf("%s and %s both wrote to %s what they had computed from version %d: version %d, written by %s, was lost when version %d was written by %s.",
		j.who(a), j.who(b), quoted(j.t.Name), base, version(j.v, &j.v.ops[a]), seconds(j.v.gaveUp(&j.v.ops[a])),
		version(j.v, &j.v.ops[b]), seconds(j.v.gaveUp(&j.v.ops[b])))
	if f.Strength != UnderStall {
		j.r.numbers["lost_updates"]++
	}
	j.r.add(f)
}

// blame takes the client that came after its lease had ended, or else the service that let both in.
func (j *resourceJudge) blame(a, b int32) (Strength, Party) {
	if l := j.v.lockOf(&j.v.ops[b]); l != nil && l.contract.NonExclusive {
		return Definite, ResourceParty // nobody but the resource was to keep two apart
	}
	if strength, party := j.overran(b); party == ClientParty {
		return sure(strength), party
	}
	strength, party := j.overran(a)
	return sure(strength), party
}

// sure turns a hazard into a fact: an update that was lost is lost, whoever could have averted it.
func sure(s Strength) Strength {
	if s == Hazard {
		return Definite
	}
	return s
}

// wouldFence says whether a resource that checks tokens would have refused one of the two.
func (j *resourceJudge) wouldFence(a, b int32) string {
	switch {
	case !fences(j.v.lockOf(&j.v.ops[a])) || !fences(j.v.lockOf(&j.v.ops[b])):
		return "no tokens"
	case j.t.Check == history.ChecksToken:
		return "no"
	case j.late[a] || j.late[b]:
		return "yes"
	case !j.t.Ordered && j.readUnderHigher(a, b):
		return "yes"
	case !j.t.Ordered:
		return "not known: the order in which the resource took them was not recorded"
	}
	return "no"
}

// readUnderHigher says whether the one of two writes on one version that has the higher token had read that version. The other
// hadn't landed then, or its own version would have been read: it came after a higher token.
func (j *resourceJudge) readUnderHigher(a, b int32) bool {
	low, high := &j.v.ops[a], &j.v.ops[b]
	if j.v.token(low) > j.v.token(high) {
		a, b, low, high = b, a, high, low
	}
	base, known := j.base(b)
	if j.v.token(low) == j.v.token(high) || !known || high.grant < 0 {
		return false
	}
	for _, i := range j.v.ofGrant(high.grant) {
		if o := &j.v.ops[i]; o.act == read && o.ans == okay && j.v.called(o).Resource == j.t.Name && version(j.v, o) == base {
			return true
		}
	}
	return false
}

// counter checks the end of a counter whose every write adds one: it is at least the accepted increments, and at most
// those and the unknown ones. What lost updates explain wholly is theirs, and no finding of its own.
func (j *resourceJudge) counter() {
	last, ok := j.lastRead()
	if !ok {
		return
	}
	accepted, unsure := 0, 0
	for _, i := range j.t.ops {
		o := &j.v.ops[i]
		if o.act != write || o.ans == rejected || o.ans == failed {
			continue
		}
		switch n, counts := j.number(o); {
		case !counts, o.ans == okay && o.ret >= j.v.ops[last].call, !j.increments(i, n):
			return
		case o.ans == okay:
			accepted++
		default:
			unsure++
		}
	}
	end, _ := j.number(&j.v.ops[last])
	j.r.numbers["counter"] = float64(end)
	if end >= int64(accepted-j.lost) && end <= int64(accepted+unsure) {
		return
	}
	j.wrongCount(last, end, accepted, unsure)
}

// wrongCount reports a difference that lost updates explain in part or not at all. In part, it is as firm as the
// firmest of them, and whose that one is: the others are likely to be of the same kind.
func (j *resourceJudge) wrongCount(last int32, end int64, accepted, unsure int) {
	f := j.finding(WrongCount, Service, last)
	f.Message = fmt.Sprintf("%s ended at %d, read by %s at %s, after %s that were accepted and %d of unknown outcome.",
		quoted(j.t.Name), end, j.v.client(&j.v.ops[last]), seconds(j.v.ops[last].ret), count(accepted, "increment"), unsure)
	if end < int64(accepted) && j.lost > 0 {
		f.Message += fmt.Sprintf(" Lost updates (%s) explain a part of that.", grouped(j.lost))
		f.Strength, f.Blame = j.firmest(LostUpdate)
	}
	j.r.add(f)
}

// firmest returns the strength and the blame of the firmest finding of that kind.
func (j *resourceJudge) firmest(kind string) (strength Strength, blame Party) {
	for i := range j.r.findings {
		f := &j.r.findings[i]
		if f.Kind == kind && (strength == "" || standing(f.Strength) < standing(strength)) {
			strength, blame = f.Strength, f.Blame
		}
	}
	return strength, blame
}

// lastRead is the last accepted read with a number.
func (j *resourceJudge) lastRead() (i int32, ok bool) {
	for k := len(j.t.ops) - 1; k >= 0; k-- {
		o := &j.v.ops[j.t.ops[k]]
		if o.act == read && o.ans == okay {
			_, ok = j.number(o)
			return j.t.ops[k], ok
		}
	}
	return 0, false
}

func (j *resourceJudge) number(o *op) (n int64, ok bool) {
	data := j.v.done(o).Data
	if len(data) == 0 {
		data = j.v.called(o).Data
	}
	var payload struct {
		N *int64 `json:"n"`
	}
	if len(data) == 0 || json.Unmarshal(data, &payload) != nil || payload.N == nil {
		return 0, false
	}
	return *payload.N, true
}

// increments says whether write i, with number n, adds one to what its grant had read; true where that isn't known.
func (j *resourceJudge) increments(i int32, n int64) bool {
	g := j.v.ops[i].grant
	if g < 0 {
		return true
	}
	before, known := int64(0), false
	for _, k := range j.v.ofGrant(g) {
		o := &j.v.ops[k]
		if k >= i {
			break
		}
		if (o.act == read || o.act == write) && o.ans == okay {
			before, known = j.number(o)
		}
	}
	return !known || n == before+1
}
