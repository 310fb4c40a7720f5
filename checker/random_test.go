package checker

import (
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/locktest/locktest/history"
)

// Histories of a few operations, at random: half of them drawn blindly, half from a simulated lock that is correct, of
// which most are then spoilt in a few places.

// dice says what to draw.
type dice struct {
	model   string // mutex, fenced, semaphore, rw, re-entrant
	limit   int    // of re-entry
	permits int32
	weights int32 // the largest
	owners  int
	ops     int
	unknown float64
	reuse   bool // owners go on acquiring after unknown operations
	gone    bool // some releases are answered OK where that says nothing of what was before
}

// small is one operation before it becomes events.
type small struct {
	owner     int32
	act       act
	ans       answer
	shared    bool
	weight    int32
	token     uint64
	call, ret int64
}

const noReturn = int64(1) << 40

func (d *dice) draw(r *rand.Rand) []small {
	var ops []small
	if r.IntN(2) == 0 {
		ops = d.blind(r)
	} else if ops = d.simulated(r); r.IntN(3) > 0 {
		ops = d.spoil(r, ops)
	}
	return d.tidy(ops)
}

// tidy keeps each owner to one operation at a time, one weight and, unless reuse, no acquire after an unknown operation.
func (d *dice) tidy(ops []small) []small {
	sort.SliceStable(ops, func(i, j int) bool { return ops[i].call < ops[j].call })
	last, weight, doubt := map[int32]int64{}, map[int32]int32{}, map[int32]bool{}
	out := ops[:0]
	for _, o := range ops {
		if l, seen := last[o.owner]; seen && o.call <= l || doubt[o.owner] && !d.reuse && o.act == acquire {
			continue
		}
		if w, seen := weight[o.owner]; seen {
			o.weight = w
		}
		o.weight = max(1, o.weight)
		weight[o.owner] = o.weight
		o.ret = max(o.ret, o.call)
		last[o.owner] = o.ret
		if o.act == acquire && o.ans == notHeld {
			o.ans = okay
		}
		if d.gone && o.act == release && o.ans == okay && (o.call+o.ret)%2 == 0 {
			o.ans = gone
		}
		if o.ans == unknown {
			doubt[o.owner] = true
			last[o.owner], o.ret = o.call, noReturn
			o.token = 0
		} else if o.act == acquire {
			o.token = max(1, o.token)
		}
		out = append(out, o)
	}
	return out
}

func (d *dice) blind(r *rand.Rand) []small {
	span := int64(4 + r.IntN(5*d.ops))
	wild := r.IntN(4) == 0 // owners may break the order of acquire and release
	owners := 1 + r.IntN(d.owners)
	if !wild {
		owners = min(d.owners, 2+r.IntN(d.owners))
	}
	token := uint64(1)
	var ops []small
	for id := range owners {
		n := 1 + r.IntN(max(1, 2*d.ops/owners))
		times := make([]int64, 2*n)
		for i := range times {
			times[i] = r.Int64N(span)
		}
		slices.Sort(times)
		wants, depth, shared, weight := true, 0, false, 1+r.Int32N(max(1, d.weights))
		for i := 0; i < n && len(ops) < d.ops; i++ {
			o := small{owner: int32(id), call: times[2*i], ret: times[2*i+1], weight: weight, ans: okay}
			if wild && r.IntN(12) == 0 {
				wants = !wants
			}
			if wants {
				if d.model == "rw" && depth == 0 {
					shared = r.IntN(2) == 0
				}
				o.token = token
				token += uint64(min(1, r.IntN(3)))
				depth++
				wants = d.model == "re-entrant" && depth < d.limit && r.IntN(2) == 0
			} else {
				o.act = release
				if wild && r.IntN(6) == 0 {
					o.ans = notHeld
				}
				depth--
				wants = depth <= 0
			}
			o.shared = shared
			if r.Float64() < d.unknown {
				o.ans = unknown
			}
			ops = append(ops, o)
		}
	}
	if d.model == "fenced" && r.IntN(2) == 0 {
		tokensByReturn(ops)
	}
	return ops
}

// tokensByReturn gives out tokens in the order of the replies, which is mostly plausible.
func tokensByReturn(ops []small) {
	var at []int
	for i := range ops {
		if ops[i].act == acquire {
			at = append(at, i)
		}
	}
	sort.Slice(at, func(a, b int) bool { return ops[at[a]].ret < ops[at[b]].ret })
	for k, i := range at {
		ops[i].token = uint64(k + 1)
	}
}

// room is a simulated lock, and who is in it.
type room struct {
	d      *dice
	depth  []int
	shared []bool
	weight []int32
	dead   []bool
	used   int32
	inside int // owners
	writer bool
	token  uint64
}

func (m *room) admits(id int) bool {
	switch m.d.model {
	case "semaphore":
		return m.depth[id] == 0 && m.used+m.weight[id] <= m.d.permits
	case "rw":
		return m.depth[id] == 0 && !m.writer && (m.shared[id] || m.inside == 0)
	case "re-entrant":
		return m.inside == 0 || m.depth[id] > 0 && m.depth[id] < m.d.limit
	}
	return m.inside == 0
}

func (m *room) enter(id int, r *rand.Rand) {
	if m.depth[id] == 0 {
		m.token += 1 + r.Uint64N(2)
		m.inside++
		m.used += m.weight[id]
		m.writer = !m.shared[id]
	}
	m.depth[id]++
}

func (m *room) leave(id int) {
	if m.depth[id]--; m.depth[id] == 0 {
		m.inside--
		m.used -= m.weight[id]
		m.writer = false
	}
}

// moment is an operation and when it takes effect.
type moment struct {
	op small
	at int64
}

func (d *dice) simulated(r *rand.Rand) []small {
	m := &room{d: d, depth: make([]int, d.owners), shared: make([]bool, d.owners), weight: make([]int32, d.owners), dead: make([]bool, d.owners)}
	by := make([][]moment, d.owners)
	at := int64(2)
	for range d.ops {
		at += 1 + r.Int64N(3)
		id := r.IntN(d.owners)
		if m.dead[id] && !d.reuse {
			continue
		}
		if o, ok := m.act(id, r); ok {
			by[id] = append(by[id], moment{o, at})
		}
		if m.dead[id] && m.depth[id] > 0 && r.IntN(2) == 0 { // a clean-up
			at += 1 + r.Int64N(4)
			by[id] = append(by[id], moment{small{owner: int32(id), act: release, ans: okay, shared: m.shared[id], weight: m.weight[id]}, at})
			m.leave(id)
		}
	}
	return around(by, at, r)
}

func (m *room) act(id int, r *rand.Rand) (small, bool) {
	if m.depth[id] == 0 {
		m.weight[id] = 1 + r.Int32N(max(1, m.d.weights))
		m.shared[id] = m.d.model == "rw" && r.IntN(2) == 0
	}
	o := small{owner: int32(id), shared: m.shared[id], weight: m.weight[id], ans: okay}
	enters := m.admits(id) && (m.depth[id] == 0 || r.IntN(2) == 0)
	if !enters && m.depth[id] == 0 {
		o.act, o.ans = release, notHeld
		return o, r.IntN(6) == 0
	}
	effect := true
	if r.Float64() < m.d.unknown {
		o.ans, m.dead[id] = unknown, true
		effect = r.IntN(3) > 0
	}
	if !enters {
		o.act = release
	}
	switch {
	case effect && enters:
		m.enter(id, r)
	case effect:
		m.leave(id)
	}
	o.token = m.token
	return o, true
}

// around draws a call before and a return after each moment, in the order of each owner.
func around(by [][]moment, end int64, r *rand.Rand) []small {
	var ops []small
	for _, list := range by {
		before := int64(0)
		for i := range list {
			x := list[i]
			limit := end + 6
			if i+1 < len(list) {
				limit = max(x.at, list[i+1].at-1)
			}
			low := min(before+1, x.at)
			x.op.call = low + r.Int64N(x.at-low+1)
			if r.IntN(2) == 0 {
				x.op.call = max(low, x.at-r.Int64N(6))
			}
			x.op.ret = min(limit, x.at+r.Int64N(8))
			before = x.op.ret
			ops = append(ops, x.op)
		}
	}
	return ops
}

func (d *dice) spoil(r *rand.Rand, ops []small) []small {
	for n := 1 + r.IntN(3); n > 0 && len(ops) > 0; n-- {
		i := r.IntN(len(ops))
		o := &ops[i]
		x := r.IntN(9)
		if x >= 3 && r.IntN(2) == 0 {
			x = r.IntN(3)
		}
		switch x {
		case 0:
			o.ret = max(o.call, o.ret-1-r.Int64N(5))
		case 1:
			o.call = min(o.ret, o.call+1+r.Int64N(5))
		case 2:
			by := r.Int64N(9) - 4
			o.call = max(0, o.call+by)
			o.ret = max(o.call, o.ret+by)
		case 3:
			ops = slices.Delete(ops, i, i+1)
		case 4:
			o.ans = unknown
		case 5, 6:
			if o.act == release {
				o.ans = []answer{notHeld, okay}[x-5]
			}
		case 7:
			j := r.IntN(len(ops))
			o.token, ops[j].token = ops[j].token, o.token
		case 8:
			o.owner = r.Int32N(int32(d.owners))
		}
	}
	return ops
}

// contract is what the drawn lock promises.
func (d *dice) contract() history.Contract {
	c := history.Contract{Expiry: history.NoExpiry, Tokens: history.NoTokens, OwnerChecked: true, ReleaseHeld: true}
	switch d.model {
	case "fenced":
		c.Tokens = history.PerGrant
	case "semaphore":
		c.Permits = int(d.permits)
	case "rw":
		c.Shared = true
	case "re-entrant":
		c.Reentry = d.limit
	}
	return c
}

// history turns operations into events. Each acquire begins a grant, but the owner is what counts.
func (d *dice) history(ops []small) *history.History {
	h, _ := d.events(ops)
	return h
}

// events also returns which operation each event is of.
func (d *dice) events(ops []small) (*history.History, []int) {
	h := &history.History{Header: history.Header{Locks: []history.Lock{{Name: "L", Contract: d.contract()}}}}
	type event struct {
		op   history.Op
		rank int
		n    int
	}
	var es []event
	process := map[int32]int{}
	for i, o := range ops {
		name := string(rune('a' + o.owner))
		x := history.Op{Type: history.Invoke, Client: name, Owner: name, Process: process[o.owner], Lock: "L", F: history.Acquire, Permits: int(o.weight), Time: time.Duration(o.call)}
		if o.act == release {
			x.F = history.Release
		}
		if o.shared {
			x.Mode = history.Shared
		}
		y := x
		y.Type, y.Time = history.OK, time.Duration(o.ret)
		switch {
		case o.ans == unknown:
			y.Type, y.Time = history.Info, x.Time
			process[o.owner]++
		case o.ans == notHeld:
			y.Type, y.Outcome = history.Fail, history.NotHeld
		case o.ans == gone:
			y.Outcome = history.Gone
		case o.act == acquire:
			y.Token = o.token
		}
		es = append(es, event{x, 0, i}, event{y, 1, i})
	}
	sort.SliceStable(es, func(i, j int) bool {
		a, b := es[i], es[j]
		if a.op.Time != b.op.Time {
			return a.op.Time < b.op.Time
		}
		return a.rank < b.rank
	})
	which := make([]int, len(es))
	for i, e := range es {
		e.op.Index = i
		which[i] = e.n
		h.Ops = append(h.Ops, e.op)
	}
	return h, which
}
