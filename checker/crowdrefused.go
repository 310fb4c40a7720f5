package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// crowdRefusals finds definite refusals of semaphores and read-write locks where all that can have been held left room.
// Whoever else asked meanwhile excuses it: services let waiting writers and large requests go first.
func (j *livenessJudge) crowdRefusals() {
	c, asks := &j.l.contract, j.asks()
	for _, i := range j.l.acquires {
		o := &j.v.ops[i]
		if o.ans != busy {
			continue
		}
		j.r.numbers["refusals"]++
		if asks.meets(j.v, i, o.call, o.ret) || !j.roomFor(i) {
			continue
		}
		f := j.finding(FalseRefusal, o.call, o.ret, i)
		j.doubt(&f, j.reach.lastEnd(o.call), o.ret)
		held := j.possiblyHeld(o.call, o.ret)
		if c.Permits > 0 {
			f.Message = fmt.Sprintf("%s asked for %s of %s at %s and was told at %s that there are too few, but at most %d of %d can have been taken.%s",
				j.v.client(o), count(int(j.v.permits(o)), "permit"), quoted(j.l.name), seconds(o.call), seconds(o.ret), held, c.Permits, stallWords(f.Strength))
		} else {
			f.Message = fmt.Sprintf("%s asked for %s at %s and was told at %s that somebody else holds it, but nobody can have in a mode that excludes it.%s",
				j.v.client(o), quoted(j.l.name), seconds(o.call), seconds(o.ret), stallWords(f.Strength))
		}
		j.r.add(f)
	}
}

// asks are the times in which acquires were open.
func (j *livenessJudge) asks() *reach {
	var out []possible
	for _, i := range j.l.acquires {
		o := &j.v.ops[i]
		out = append(out, possible{from: o.call, to: j.v.gaveUp(o), grant: o.grant})
	}
	slices.SortStableFunc(out, func(a, b possible) int { return cmp.Compare(a.from, b.from) })
	return newReach(out)
}

// roomFor says whether everything that can have been held at some moment of acquire i left room for it, taken together.
func (j *livenessJudge) roomFor(i int32) bool {
	o := &j.v.ops[i]
	if limit := j.l.contract.Permits; limit > 0 {
		return j.possiblyHeld(o.call, o.ret)+int(j.v.permits(o)) <= limit
	}
	room := true
	j.reach.each(o.call, o.ret, func(p possible) bool {
		room = o.shared && j.v.ops[j.v.grants[p.grant].acq].shared
		return room
	})
	return room
}

// possiblyHeld is how many permits can have been out between from and to, each hold counted as if it lasted all the time.
func (j *livenessJudge) possiblyHeld(from, to time.Duration) int {
	sum := 0
	j.reach.each(from, to, func(p possible) bool {
		sum += int(j.v.permits(&j.v.ops[j.v.grants[p.grant].acq]))
		return true
	})
	return sum
}
