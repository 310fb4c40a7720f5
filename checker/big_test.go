package checker

import (
	"math/rand/v2"
	"sort"
	"strconv"
	"time"

	"github.com/locktest/locktest/history"
)

// big is a long run of a simulated lock service with clients that wait: a random waiter is granted, as with clients
// that poll, calls take 0.2 to 1 ms each way, holds 0.5 to 1.5 ms. Each acquire has an owner of its own.
type big struct {
	model    string // mutex, fenced, semaphore, rw
	ops      int    // acquires and releases
	clients  int
	unknown  float64 // share
	planted  float64 // where a grant returns a microsecond before the holder asks to release; 0: nowhere
	fifo     bool
	locks    int // 0: one
	reuse    bool
	permits  int32
	seed     uint64
	thinking time.Duration
}

// bigOp is a small one with the worker and the lock that it is of.
type bigOp struct {
	small
	client int
	lock   int
}

type waiter struct {
	client int
	call   int64
	shared bool
}

type inside1 struct {
	client, op int
	until      int64
	shared     bool
}

type bigRun struct {
	b       *big
	r       *rand.Rand
	lock    int
	ops     []bigOp
	waiting []waiter
	idle    []waiter // by when they call
	in      []inside1
	now     int64
	owner   int32
	token   uint64
	plant   bool
	planted bool
}

func (b *big) make() []bigOp {
	locks := max(1, b.locks)
	var out []bigOp
	for l := range locks {
		run := &bigRun{b: b, lock: l, r: rand.New(rand.NewPCG(b.seed+1, uint64(l))), owner: int32(len(out))}
		out = append(out, run.run(b.ops/locks)...)
	}
	return out
}

func (b *big) lat(r *rand.Rand) int64 { return 200_000 + r.Int64N(800_000) }

func (x *bigRun) run(n int) []bigOp {
	for c := range x.b.clients {
		x.idle = append(x.idle, x.next(c, x.r.Int64N(1_000_000)))
	}
	for len(x.ops) < n {
		x.wake()
		if k := x.choose(); k >= 0 {
			x.grant(k, n)
			continue
		}
		x.advance()
	}
	return x.ops
}

func (x *bigRun) next(client int, at int64) waiter {
	return waiter{client, at, x.b.model == "rw" && x.r.IntN(5) > 0}
}

func (x *bigRun) wake() {
	rest := x.idle[:0]
	for _, w := range x.idle {
		if w.call <= x.now {
			x.waiting = append(x.waiting, w)
		} else {
			rest = append(rest, w)
		}
	}
	x.idle = rest
}

// choose picks a waiter that may enter; -1: none.
func (x *bigRun) choose() int {
	if len(x.waiting) == 0 {
		return -1
	}
	k := 0
	if !x.b.fifo {
		k = x.r.IntN(len(x.waiting))
	}
	w := x.waiting[k]
	switch x.b.model {
	case "semaphore":
		if int32(len(x.in)) >= x.b.permits {
			return -1
		}
	case "rw":
		if len(x.in) > 0 && (!w.shared || !x.in[0].shared) {
			return -1
		}
	default:
		if len(x.in) > 0 {
			return -1
		}
	}
	return k
}

// grant lets a waiter in, or loses its answer.
func (x *bigRun) grant(k, n int) {
	w := x.waiting[k]
	x.waiting = append(x.waiting[:k], x.waiting[k+1:]...)
	x.token++
	a := small{owner: x.owner, act: acquire, ans: okay, shared: w.shared, weight: 1, token: x.token, call: w.call, ret: max(w.call, x.now) + x.b.lat(x.r)}
	x.owner++
	lost := x.r.Float64() < x.b.unknown
	if lost {
		a.ans, a.token = unknown, 0
	}
	if x.plant && !lost {
		x.squeeze(&a)
	}
	release := small{owner: a.owner, act: release, ans: okay, shared: w.shared, weight: 1}
	release.call = a.ret + 500_000 + x.r.Int64N(1_000_000)
	effect := release.call + x.b.lat(x.r)
	release.ret = effect + x.b.lat(x.r)
	switch {
	case lost && x.r.IntN(10) >= 3: // it had no effect; the clean-up says so
		release.ans = notHeld
		x.idle = append(x.idle, x.next(w.client, release.ret+1))
	case !lost && x.r.Float64() < x.b.unknown:
		release.ans = unknown
		fallthrough
	default:
		x.in = append(x.in, inside1{w.client, len(x.ops), effect, w.shared})
	}
	if lost {
		a.ret = noReturn
	}
	x.ops = append(x.ops, bigOp{a, w.client, x.lock}, bigOp{release, w.client, x.lock})
	if x.b.planted > 0 && !x.planted && float64(len(x.ops)) > x.b.planted*float64(n) {
		x.plant, x.planted = true, true
	}
}

// squeeze makes the grant return just before the last holder asked to release.
func (x *bigRun) squeeze(a *small) {
	for i := len(x.ops) - 1; i >= 0 && i > len(x.ops)-4; i-- {
		r := &x.ops[i]
		if r.act != release || r.ans == notHeld || x.ops[i-1].ans != okay || a.call >= r.call-2000 || x.ops[i-1].ret >= r.call-2000 {
			continue
		}
		a.ret = r.call - 1000
		x.plant = false
		return
	}
}

// advance goes on to the next end of a hold, or the next call.
func (x *bigRun) advance() {
	next := int64(1) << 62
	for _, h := range x.in {
		next = min(next, h.until)
	}
	for _, w := range x.idle {
		if len(x.in) == 0 || x.b.model == "semaphore" || x.b.model == "rw" {
			next = min(next, w.call)
		}
	}
	x.now = max(x.now+1, next)
	rest := x.in[:0]
	for _, h := range x.in {
		if h.until > x.now {
			rest = append(rest, h)
			continue
		}
		r := &x.ops[h.op+1]
		free := r.ret + 1
		x.idle = append(x.idle, x.next(h.client, free+x.r.Int64N(100_000)))
		if r.ans == unknown {
			r.ret = noReturn
		}
	}
	x.in = rest
}

func (b *big) contract() history.Contract {
	d := dice{model: b.model, permits: b.permits}
	return d.contract()
}

// history turns operations into events.
func (b *big) history(ops []bigOp) *history.History {
	h := &history.History{}
	name := func(l int) string { return "L" + strconv.Itoa(l) }
	for l := range max(1, b.locks) {
		h.Header.Locks = append(h.Header.Locks, history.Lock{Name: name(l), Contract: b.contract()})
	}
	type event struct {
		at int64
		op int32
		by int32 // 0: the call, 1: the answer
	}
	es := make([]event, 0, 2*len(ops))
	for i := range ops {
		o := &ops[i]
		ret := o.ret
		if o.ans == unknown {
			ret = o.call
		}
		es = append(es, event{o.call, int32(i), 0}, event{ret, int32(i), 1})
	}
	sort.Slice(es, func(i, j int) bool {
		a, b := es[i], es[j]
		if a.at != b.at {
			return a.at < b.at
		}
		if a.op != b.op {
			return a.op < b.op
		}
		return a.by < b.by
	})
	h.Ops = make([]history.Op, len(es))
	for i, e := range es {
		o := &ops[e.op]
		x := &h.Ops[i]
		*x = history.Op{Index: i, Time: time.Duration(e.at), Client: "c" + strconv.Itoa(o.client), Thread: o.lock + 1, Lock: name(o.lock), Grant: int(o.owner) + 1, Type: history.Invoke, F: history.Acquire}
		if o.act == release {
			x.F = history.Release
		}
		if o.shared {
			x.Mode = history.Shared
		}
		if e.by == 0 {
			continue
		}
		x.Type = history.OK
		switch o.ans {
		case unknown:
			x.Type = history.Info
		case notHeld:
			x.Type, x.Outcome = history.Fail, history.NotHeld
		default:
			x.Owner = "o" + strconv.Itoa(int(o.owner))
			if o.act == acquire {
				x.Token = o.token
			}
		}
	}
	return h
}
