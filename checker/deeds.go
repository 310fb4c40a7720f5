package checker

import (
	"context"
	"slices"
	"time"

	"github.com/locktest/locktest/history"
)

// deed is an operation on one lock as the general engine sees it.
type deed struct {
	call, ret time.Duration // ret is forever where the outcome is unknown
	token     uint64
	op        int32
	owner     int32
	weight    int32 // permits
	slot      int16 // the owner's place in a set of holders
	act       act   // acquire or release
	ans       answer
	shared    bool
}

func (d *deed) unsure() bool { return d.ans == unknown }

// deedsOf are l's operations, by call, without what certainly had no effect.
func (v *view) deedsOf(l *lockView) []deed {
	var out []deed
	v.eachOwner(l, func(ids []int32) { out = v.addDeeds(out, ids) })
	sortDeeds(out)
	return out
}

func sortDeeds(ds []deed) {
	slices.SortFunc(ds, func(a, b deed) int {
		if a.call != b.call {
			return int(max(-1, min(1, a.call-b.call)))
		}
		return int(a.op - b.op)
	})
}

// addDeeds adds an owner's operations. It gives a release the weight and the mode of the acquire before it, or of the owner's first. A loss is a
// release whose outcome nobody knows.
func (v *view) addDeeds(out []deed, ids []int32) []deed {
	out = slices.Grow(out, len(ids))
	weight, shared := int32(1), false
	if k := slices.IndexFunc(ids, func(i int32) bool { return v.ops[i].act == acquire }); k >= 0 {
		weight, shared = v.permits(&v.ops[ids[k]]), v.ops[ids[k]].shared
	}
	for _, i := range ids {
		o := &v.ops[i]
		d := deed{call: o.call, ret: o.ret, op: i, owner: v.grants[o.grant].owner, ans: o.ans, act: release}
		if o.act == acquire {
			d.act = acquire
			weight, shared = v.permits(o), o.shared
			if o.ans == okay {
				d.token = v.grants[o.grant].token
			}
		}
		if unsure(o) {
			d.ans, d.ret = unknown, forever
		}
		d.weight, d.shared = weight, shared
		out = append(out, d)
	}
	return out
}

// seatOwners gives each owner a place, which is free again once the owner is certainly done with. It fails where more than
// limit owners may hold at a time.
func seatOwners(ds []deed, limit int) bool {
	type life struct {
		from, to time.Duration
		depth    int
		doubt    bool
	}
	lives := map[int32]*life{}
	var order []int32
	for i := range ds {
		d := &ds[i]
		l := lives[d.owner]
		if l == nil {
			l = &life{from: d.call}
			lives[d.owner] = l
			order = append(order, d.owner)
		}
		l.to = max(l.to, d.ret)
		l.doubt = l.doubt || d.unsure()
		switch {
		case d.act == acquire:
			l.depth++
		case d.ans != notHeld:
			l.depth--
		}
	}
	places := make(map[int32]int16, len(order))
	var busy []time.Duration // until when each place is taken
	for _, owner := range order {
		l := lives[owner]
		if l.doubt || l.depth > 0 {
			l.to = forever
		}
		k := slices.IndexFunc(busy, func(to time.Duration) bool { return to < l.from })
		if k < 0 {
			k = len(busy)
			busy = append(busy, 0)
		}
		if k >= limit {
			return false
		}
		busy[k], places[owner] = l.to, int16(k)
	}
	for i := range ds {
		ds[i].slot = places[ds[i].owner]
	}
	return true
}

// steadyWeights says whether each owner always asks for the same number of permits: then it is known how many an
// unknown release gives back.
func steadyWeights(ds []deed) bool {
	weights := map[int32]int32{}
	for i := range ds {
		d := &ds[i]
		if w, seen := weights[d.owner]; seen && w != d.weight {
			return false
		}
		weights[d.owner] = d.weight
	}
	return true
}

// oneAtATime says whether no owner had two definite deeds open at once.
func oneAtATime(ds []deed) bool {
	until := map[int32]time.Duration{}
	for i := range ds {
		d := &ds[i]
		if d.unsure() {
			continue
		}
		if u, seen := until[d.owner]; seen && u > d.call {
			return false
		}
		until[d.owner] = d.ret
	}
	return true
}

// spec is a sequential specification of a lock. An unknown deed takes effect if it can, or not at all.
type spec[S comparable] interface {
	start() S
	step(s S, d *deed) (S, bool)
}

// mutexState is who holds a mutex, how often, and the highest token granted.
type mutexState struct {
	owner int32 // nobody: free
	depth int32
	token uint64
}

// mutexSpec is a mutex that knows its owner, re-entrant up to limit; fenced, the tokens of its grants rise.
type mutexSpec struct {
	limit  int32
	fenced bool
}

func (m mutexSpec) start() mutexState { return mutexState{owner: nobody} }

func (m mutexSpec) step(s mutexState, d *deed) (mutexState, bool) {
	held := s.owner == d.owner
	if d.act == acquire {
		return m.enter(s, d, held)
	}
	if !held {
		return s, d.ans != okay
	}
	if d.ans == notHeld {
		return s, false
	}
	if s.depth--; s.depth == 0 {
		s.owner = nobody
	}
	return s, true
}

func (m mutexSpec) enter(s mutexState, d *deed, held bool) (mutexState, bool) {
	if s.owner != nobody && (!held || s.depth >= m.limit) {
		return s, d.unsure()
	}
	if m.fenced && !held && d.ans == okay && d.token != 0 {
		if d.token <= s.token {
			return s, false
		}
		s.token = d.token
	}
	s.owner = d.owner
	s.depth++
	return s, true
}

// crowdState is who is in, by place, and how many permits are out.
type crowdState struct {
	in     [2]uint64
	used   int32
	writer bool
}

const crowdPlaces = 128

func (s *crowdState) has(slot int16) bool { return s.in[slot>>6]>>(uint(slot)&63)&1 != 0 }

func (s *crowdState) flip(slot int16) { s.in[slot>>6] ^= 1 << (uint(slot) & 63) }

// crowdSpec is a semaphore with permits, or, without, a read-write lock.
type crowdSpec struct{ permits int32 }

func (m crowdSpec) start() crowdState { return crowdState{} }

func (m crowdSpec) step(s crowdState, d *deed) (crowdState, bool) {
	held := s.has(d.slot)
	if d.act == acquire {
		if held || !m.admits(s, d) {
			return s, d.unsure()
		}
		s.flip(d.slot)
		s.used += d.weight
		s.writer = m.permits == 0 && !d.shared
		return s, true
	}
	if !held {
		return s, d.ans != okay
	}
	if d.ans == notHeld {
		return s, false
	}
	s.flip(d.slot)
	s.used -= d.weight
	s.writer = false
	return s, true
}

func (m crowdSpec) admits(s crowdState, d *deed) bool {
	if m.permits > 0 {
		return s.used+d.weight <= m.permits
	}
	return !s.writer && (d.shared || s.used == 0)
}

// engineVerdict is what the general engine says of one lock.
type engineVerdict struct {
	legal  bool
	at     int    // the deed at whose return nothing was left, where it is not legal
	gaveUp string // why it came to no end
	widest int    // the most configurations at a time
}

// decideDeeds runs the general engine with the specification that c calls for.
func decideDeeds(ctx context.Context, ds []deed, c *history.Contract, b budget) engineVerdict {
	if c.Permits > 0 || c.Shared {
		if c.Permits > 0 && !steadyWeights(ds) {
			return engineVerdict{gaveUp: "an owner asked for different numbers of permits"}
		}
		if !seatOwners(ds, crowdPlaces) {
			return engineVerdict{gaveUp: "more than 128 owners may have held at a time"}
		}
		return newFrontier[crowdState](crowdSpec{int32(c.Permits)}, ds, b).run(ctx)
	}
	return newFrontier[mutexState](mutexSpec{int32(max(1, c.Reentry)), c.Tokens == history.PerGrant && c.Reentry == 0}, ds, b).run(ctx)
}
