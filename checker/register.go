package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// zone is one version of a register: its write and the reads that returned it. All of them lie between the first
// reply among them and the last call: a forward zone must be there from then to then. Where all of them overlap, the
// zone is backward, and can be anywhere in between.
type zone struct {
	first, last     time.Duration // the first reply, the last call
	write           int32         // -1: the version before any write
	firstOp, lastOp int32
	called          time.Duration
	used            bool
}

func (z *zone) forward() bool { return z.first < z.last }

// replay walks through what was accepted in the resource's own order. An unknown write takes effect just before it is
// read, at most once.
func (j *resourceJudge) replay() {
	writers := map[int64]int32{}
	for _, i := range j.t.ops {
		if o := &j.v.ops[i]; o.act == write && o.ans != failed {
			writers[version(j.v, o)] = i
		}
	}
	current, last := int64(0), int32(-1)
	for _, d := range j.decisions() {
		o := &j.v.ops[d.op]
		got := version(j.v, o)
		switch {
		case o.act == write:
			current, last = got, d.op
		case got != current:
			w, written := writers[got]
			j.misorder(d.op, w, last, written)
		}
	}
}

// misorder reports that read i returned the version of w, which is not the current one, that of last.
func (j *resourceJudge) misorder(i, w, last int32, written bool) {
	switch {
	case !written && version(j.v, &j.v.ops[i]) != 0:
		j.phantom(i)
	case written && j.v.ops[w].ans == rejected:
		j.misread(RejectedRead, i, w, "was read by %s at %s, although its write was refused at %s.", seconds(j.v.ops[w].ret))
	default:
		if !written {
			w = -1
		}
		o := &j.v.ops[i]
		f := j.finding(RegisterOrder, ResourceParty, i, w, last)
		now := "the first one"
		if last >= 0 {
			now = fmt.Sprint(version(j.v, &j.v.ops[last]))
		}
		f.Message = fmt.Sprintf("%s returned version %d to %s at %s, but its version then was %s.",
			quoted(j.t.Name), version(j.v, o), j.v.client(o), seconds(o.ret), now)
		j.r.add(f)
	}
}

// registerOrder decides whether the accepted reads and writes fit one order, by zones: no two forward zones may
// overlap, and no backward zone may lie within a forward one (Gibbons and Korach, "Testing shared memories", SIAM
// Journal on Computing, 1997). It needs written versions to be unique. What it finds is the resource's fault: then
// lost updates are no evidence against a lock.
func (j *resourceJudge) registerOrder() {
	switch {
	case !j.unique():
		j.r.complete, j.r.why = false, fmt.Sprintf("the versions written to %s are not told apart, so the order of its reads and writes was not judged", quoted(j.t.Name))
		return
	case j.t.Ordered:
		j.replay()
		return
	}
	zones := j.zones()
	var forward, backward []zone
	for _, z := range zones {
		switch {
		case !z.used:
		case z.forward():
			forward = append(forward, z)
		case z.write >= 0:
			backward = append(backward, z)
		}
	}
	slices.SortFunc(forward, func(a, b zone) int { return cmp.Compare(a.first, b.first) })
	for i := 1; i < len(forward); i++ {
		if forward[i-1].last > forward[i].first {
			j.misfit(forward[i-1], forward[i])
		}
	}
	for _, z := range backward {
		k, _ := slices.BinarySearchFunc(forward, z.last, func(f zone, t time.Duration) int { return cmp.Compare(f.first, t) })
		if k > 0 && forward[k-1].last > z.first {
			j.misfit(forward[k-1], z)
		}
	}
}

// zones makes them from what was accepted, where versions are unique. It reports reads that fit no write at once.
func (j *resourceJudge) zones() []zone {
	at := map[int64]int{0: 0}
	zones := []zone{{first: -forever, last: -forever, write: -1, firstOp: -1, lastOp: -1, called: -forever, used: true}}
	for _, i := range j.t.ops {
		o := &j.v.ops[i]
		if o.act != write || o.ans == failed {
			continue
		}
		at[version(j.v, o)] = len(zones)
		zones = append(zones, zone{first: o.ret, last: o.call, write: i, firstOp: i, lastOp: i, called: o.call, used: o.ans == okay})
	}
	for _, i := range j.t.ops {
		if o := &j.v.ops[i]; o.act == read && o.ans == okay {
			k, written := at[version(j.v, o)]
			if !written {
				j.phantom(i)
				continue
			}
			j.join(&zones[k], i)
		}
	}
	return zones
}

func (j *resourceJudge) join(z *zone, i int32) {
	o := &j.v.ops[i]
	switch {
	case o.ret < z.called:
		j.misread(RegisterOrder, i, z.write, "was read by %s at %s, before it was written: that write was called at %s.", seconds(j.v.ops[z.write].call))
		return
	case z.write >= 0 && j.v.ops[z.write].ans == rejected:
		j.misread(RejectedRead, i, z.write, "was read by %s at %s, although its write was refused at %s.", seconds(j.v.ops[z.write].ret))
		return
	}
	z.used = true
	if o.ret < z.first {
		z.first, z.firstOp = o.ret, i
	}
	if o.call > z.last {
		z.last, z.lastOp = o.call, i
	}
}

func (j *resourceJudge) phantom(i int32) {
	o := &j.v.ops[i]
	f := j.finding(PhantomRead, ResourceParty, i)
	f.Message = fmt.Sprintf("version %d of %s was read by %s at %s, but nobody wrote it.", version(j.v, o), quoted(j.t.Name), j.v.client(o), seconds(o.ret))
	j.r.add(f)
}

func (j *resourceJudge) misread(kind string, i, write int32, format, when string) {
	o := &j.v.ops[i]
	f := j.finding(kind, ResourceParty, i, write)
	f.Message = fmt.Sprintf("version %d of %s ", version(j.v, o), quoted(j.t.Name)) + fmt.Sprintf(format, j.v.client(o), seconds(o.ret), when)
	j.r.add(f)
}

func (j *resourceJudge) misfit(a, b zone) {
	f := j.finding(RegisterOrder, ResourceParty, max(a.firstOp, a.lastOp), a.write, a.firstOp, a.lastOp, b.write, b.firstOp, b.lastOp)
	f.Message = fmt.Sprintf("no order of the reads and writes of %s fits: %s must have been there from %s to %s, and %s within that time.",
		quoted(j.t.Name), j.versionWords(a), seconds(max(0, a.first)), seconds(a.last), j.versionWords(b))
	j.r.add(f)
}

func (j *resourceJudge) versionWords(z zone) string {
	if z.write < 0 {
		return "the first version"
	}
	return fmt.Sprintf("version %d", version(j.v, &j.v.ops[z.write]))
}
