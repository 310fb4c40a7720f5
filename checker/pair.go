package checker

import (
	"math"
	"time"

	"github.com/locktest/locktest/history"
)

// builder makes a view of a history: it pairs events to ops, then groups ops by grant, lock and resource.
type builder struct {
	v        *view
	shape    shape
	lanes    map[line]*lane
	begun    map[int32][]*lane // of a client, on which it began something since it was last killed
	recent   [64]recent        // lanes that were looked up
	locks    names
	lastLock int32 // of the locks, the one that was named last
	things   names
	threads  map[worker]int32
	ids      idTable
	before   map[int32]int32   // for a grant that no event names, the one that was the newest before it
	newest   map[seat]int32    // the newest grant of a client's thread on a lock, for ops that name none
	alive    map[int32][]int32 // grants of a client since it was last killed
	faulty   []int32           // events of faults
	stalled  []int32           // events of stalls
}

type seat struct{ thread, lock int32 }

// worker is a thread of a client.
type worker struct {
	client int32
	thread int
}

// shape is what a first look at a history tells: how much room is needed, and what need not be kept.
type shape struct {
	ops, grants int
	unnamed     bool // some operations name no grant
	crashes     bool
}

func shapeOf(h *history.History) shape {
	var s shape
	for i := range h.Ops {
		e := &h.Ops[i]
		switch e.Type {
		case history.Invoke:
			s.ops++
			s.grants += bit(e.F == history.Acquire)
			s.unnamed = s.unnamed || e.Grant == 0
		case history.Lost, history.Renewed:
			s.ops++
			s.unnamed = s.unnamed || e.Grant == 0
		case history.Crash:
			s.crashes = true
		}
	}
	return s
}

func pair(h *history.History) (*builder, error) {
	b := &builder{
		v:     &view{h: h, header: &h.Header, phases: map[string]time.Duration{}},
		shape: shapeOf(h), lanes: map[line]*lane{}, threads: map[worker]int32{},
		newest: map[seat]int32{}, before: map[int32]int32{}, alive: map[int32][]int32{}, begun: map[int32][]*lane{},
	}
	b.v.ops = make([]op, 0, b.shape.ops)
	b.v.grants = make([]grant, 0, b.shape.grants)
	b.ids.small = make([]int32, 2*b.shape.grants+1024)
	for i := range h.Ops {
		e := &h.Ops[i]
		if e.Time < b.v.end {
			return nil, b.errorAt(e, "time runs backwards: the event before it was at %s", seconds(b.v.end))
		}
		b.v.end = e.Time
		if err := b.event(int32(i), e); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// idTable finds grants by their number in the history: mostly small ones.
type idTable struct {
	small []int32 // one more than the grant; 0: none
	rest  map[int]int32
}

func (t *idTable) get(id int) (int32, bool) {
	if id > 0 && id < len(t.small) {
		return t.small[id] - 1, t.small[id] > 0
	}
	g, seen := t.rest[id]
	return g, seen
}

func (t *idTable) set(id int, g int32) {
	if id > 0 && id < len(t.small) {
		t.small[id] = g + 1
		return
	}
	if t.rest == nil {
		t.rest = map[int]int32{}
	}
	t.rest[id] = g
}

func (b *builder) event(i int32, e *history.Op) error {
	switch e.Type {
	case history.Invoke:
		return b.invoke(i, e)
	case history.OK, history.Fail, history.Info:
		return b.complete(i, e)
	case history.Lost:
		b.single(i, e, lost)
	case history.Renewed:
		b.single(i, e, renewed)
	case history.Crash:
		b.crash(e)
	case history.FaultBegin, history.FaultEnd:
		b.faulty = append(b.faulty, i)
	case history.Observed:
		b.v.found = append(b.v.found, i)
	case history.HostStall:
		b.stalled = append(b.stalled, i)
	case history.Phase:
		if _, seen := b.v.phases[e.Name]; !seen {
			b.v.phases[e.Name] = e.Time
		}
	}
	return nil
}

func (b *builder) invoke(i int32, e *history.Op) error {
	at := b.lane(e)
	if at.open >= 0 && !at.orphan {
		return b.errorAt(e, "%s begins an operation before its last one, event %d, was answered", e.Client, b.v.ops[at.open].inv)
	}
	at.orphan = false
	if b.shape.crashes && !at.begun {
		at.begun = true
		b.begun[at.client] = append(b.begun[at.client], at)
	}
	o := b.newOp(i, e, at)
	var known bool
	if o.act, known = actOf(e.F); !known {
		return b.errorAt(e, "%q is no operation: want acquire, extend, release, read or write", e.F)
	}
	o.ret = forever
	at.open = int32(len(b.v.ops))
	b.v.ops = append(b.v.ops, o)
	b.place(&b.v.ops[len(b.v.ops)-1], e)
	return nil
}

func actOf(f history.F) (a act, known bool) {
	switch f {
	case history.Acquire:
		return acquire, true
	case history.Extend:
		return extend, true
	case history.Release:
		return release, true
	case history.Read:
		return read, true
	case history.Write:
		return write, true
	}
	return 0, false
}

func (b *builder) newOp(i int32, e *history.Op, at *lane) op {
	o := op{call: e.Time, ret: e.Time, inv: i, cmp: -1, lock: -1, grant: -1, client: at.client, thread: at.thread, shared: e.Mode == history.Shared,
		permits: int32(max(1, min(e.Permits, math.MaxInt32)))}
	if e.Lock != "" {
		o.lock = b.lock(e.Lock)
	}
	return o
}

func (b *builder) lock(name string) int32 {
	if len(b.v.locks) > 0 && b.v.locks[b.lastLock].name == name {
		return b.lastLock
	}
	n := b.locks.number(name)
	b.lastLock = n
	if int(n) == len(b.v.locks) {
		b.v.locks = append(b.v.locks, lockView{name: name, contract: b.v.header.Contract(name)})
		if len(b.v.header.Locks) == 1 { // then nearly all is its
			l := &b.v.locks[n]
			l.acquires, l.grants = make([]int32, 0, b.shape.grants), make([]int32, 0, b.shape.grants)
		}
	}
	return n
}

func (b *builder) complete(i int32, e *history.Op) error {
	at := b.lane(e)
	if at.open < 0 {
		return b.errorAt(e, "%s answers an operation that %s has not begun", e.Type, e.Client)
	}
	o := &b.v.ops[at.open]
	if inv := &b.v.h.Ops[o.inv]; inv.F != e.F {
		return b.errorAt(e, "a %s answers event %d, a %s", e.F, inv.Index, inv.F)
	}
	at.open, at.orphan = -1, false
	o.cmp = i
	b.owner(o, i, e)
	o.ans = answerOf(e)
	if o.ans != unknown {
		o.ret = e.Time
	}
	b.stepBack(o)
	return nil
}

// owner notes the first event that tells the owner of o's grant.
func (b *builder) owner(o *op, i int32, e *history.Op) {
	if e.Owner != "" && o.grant >= 0 && b.v.grants[o.grant].told < 0 {
		b.v.grants[o.grant].told = i
	}
}

// stepBack makes the grant before it the newest again when an acquire that names none was refused: what its client
// releases then is what it had before.
func (b *builder) stepBack(o *op) {
	if o.act != acquire || o.ans != busy && o.ans != failed {
		return
	}
	at := seat{o.thread, o.lock}
	before, derived := b.before[o.grant]
	switch {
	case !derived || b.newest[at] != o.grant:
	case before >= 0:
		b.newest[at] = before
	default:
		delete(b.newest, at)
	}
}

// answerOf reads how an operation ended. A late grant counts as unknown: the client had given up and holds nothing.
func answerOf(e *history.Op) answer {
	switch {
	case e.Type == history.Info, e.Outcome == history.Late:
		return unknown
	case e.Outcome == history.Busy:
		return busy
	case e.Outcome == history.NotHeld:
		return notHeld
	case e.Outcome == history.Rejected:
		return rejected
	case e.Type == history.Fail:
		return failed
	case e.Outcome == history.Gone:
		return gone
	}
	return okay
}

func (b *builder) single(i int32, e *history.Op, a act) {
	o := b.newOp(i, e, b.lane(e))
	o.act, o.ans = a, okay
	b.v.ops = append(b.v.ops, o)
	b.place(&b.v.ops[len(b.v.ops)-1], e)
}

// crash ends the client's holds, and whatever it was waiting for is unknown.
func (b *builder) crash(e *history.Op) {
	c := b.v.clients.number(e.Client)
	for _, g := range b.alive[c] {
		b.v.grants[g].crash = min(b.v.grants[g].crash, e.Time)
		b.v.grants[g].crashEvent = int32(e.Index)
	}
	b.alive[c] = nil
	for _, l := range b.begun[c] {
		l.orphan, l.begun = l.open >= 0, false
	}
	delete(b.begun, c)
}

// place finds the grant and the resource that an op belongs to.
func (b *builder) place(o *op, e *history.Op) {
	self := int32(len(b.v.ops) - 1)
	if e.Resource != "" && (o.act == read || o.act == write) {
		n := b.things.number(e.Resource)
		if int(n) == len(b.v.things) {
			b.v.things = append(b.v.things, resourceView{Resource: b.v.header.Resource(e.Resource)})
		}
		b.v.things[n].ops = append(b.v.things[n].ops, self)
	}
	if o.act == acquire && o.lock >= 0 {
		b.v.locks[o.lock].acquires = append(b.v.locks[o.lock].acquires, self)
	}
	o.grant = b.grantOf(o, e)
	b.owner(o, o.inv, e)
	if o.lock < 0 && o.grant >= 0 {
		o.lock = b.v.grants[o.grant].lock
	}
}

// grantOf returns the grant that an op names, or else the newest one of its thread on its lock.
func (b *builder) grantOf(o *op, e *history.Op) int32 {
	at := seat{o.thread, o.lock}
	if e.Grant != 0 {
		g, seen := b.ids.get(e.Grant)
		if !seen {
			g = b.newGrant(o, e.Grant)
			b.ids.set(e.Grant, g)
		}
		if b.shape.unnamed {
			b.newest[at] = g
		}
		return g
	}
	g, ok := b.newest[at]
	if o.act == acquire {
		if !ok {
			g = -1
		}
		b.before[int32(len(b.v.grants))] = g
		g = b.newGrant(o, 0)
		b.newest[at] = g
		return g
	}
	switch {
	case o.lock < 0:
		return -1
	case !ok && (o.act == release || o.act == extend): // of what was never asked for
		g = b.newGrant(o, 0)
		b.newest[at] = g
	case !ok:
		return -1
	}
	return g
}

func (b *builder) newGrant(o *op, id int) int32 {
	g := int32(len(b.v.grants))
	b.v.grants = append(b.v.grants, grant{id: id, lock: o.lock, client: o.client, acq: -1, owner: -1, told: -1, crash: forever, crashEvent: -1})
	if b.shape.crashes {
		b.alive[o.client] = append(b.alive[o.client], g)
	}
	if o.lock >= 0 {
		b.v.locks[o.lock].grants = append(b.v.locks[o.lock].grants, g)
	}
	return g
}
