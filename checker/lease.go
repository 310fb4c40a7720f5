package checker

import (
	"slices"
	"time"

	"github.com/locktest/locktest/history"
)

// piece is one time in which a grant's lease was certainly in force: by what its client was told until belief, by what
// the lock promises until core. A late extend begins another piece.
type piece struct {
	from         time.Duration // the reply that began it
	belief, core time.Duration // before from: none
	op           int32         // the acquire, extend or renewal that began it
}

func (p *piece) end() time.Duration { return max(p.belief, p.core) }

// tenure is one grant of a lock with leases or sessions, and what can be said of how long it lasted.
type tenure struct {
	grant  int32
	ai, ac time.Duration
	acq    int32
	stop   time.Duration // until when the client counted as holder: release called, loss told, killed
	stopBy int32         // the op that says so; -1: a kill, or nothing
	gone   time.Duration // first release called, whatever came of it; forever: never
	pieces []piece
	legal  time.Duration // the lease may not have ended before
	dead   bool          // the lease had ended when the reply came
	over   bool          // the client library said that the lease lasts longer than the lock grants it
	known  bool          // the deadline is known at all
}

// span is the last moment at which t can matter to another grant.
func (t *tenure) span() time.Duration {
	end := t.stop
	for i := range t.pieces {
		end = max(end, t.pieces[i].end())
	}
	return end
}

// inForce returns until when the lease certainly lasted; dead tells that it had ended before the reply came.
func (t *tenure) inForce() (until time.Duration, alive bool) {
	for i := range t.pieces {
		until = max(until, t.pieces[i].end())
	}
	return until, until > t.ac
}

// tenures returns the certain grants of l in the order of their replies.
func (v *view) tenures(l *lockView) []tenure {
	times := make([]timed, 0, len(l.grants))
	for _, g := range l.grants {
		if a := v.acquired(g); a != nil {
			times = append(times, timed{a.ret, g})
		}
	}
	slices.SortFunc(times, func(a, b timed) int {
		if a.at != b.at {
			return before(a.at, b.at)
		}
		return int(a.place - b.place)
	})
	out := make([]tenure, 0, len(times))
	for _, t := range times {
		out = append(out, v.tenure(l, t.place, v.acquired(t.place)))
	}
	return out
}

func (v *view) tenure(l *lockView, g int32, a *op) tenure {
	gr := &v.grants[g]
	t := tenure{grant: g, ai: a.call, ac: a.ret, acq: gr.acq, stop: forever, stopBy: -1, gone: forever}
	if gr.crash != forever {
		t.stop = gr.crash
	}
	b := leaseMaker{v: v, c: &l.contract, t: &t, coreStop: forever}
	b.ends()
	if l.contract.Expiry == history.Lease {
		b.pieces()
	}
	return t
}

// leaseMaker works out the pieces of one tenure.
type leaseMaker struct {
	v        *view
	c        *history.Contract
	t        *tenure
	coreStop time.Duration // the service may have ended the lease from here on
}

// ends finds the first thing that ended the hold. A release that was answered OK proves, where the lock promises that,
// that the unknown ones before it had not fired.
func (b *leaseMaker) ends() {
	t := b.t
	proved := forever
	for _, i := range b.v.ofGrant(t.grant) {
		o := &b.v.ops[i]
		switch {
		case o.act == release:
			t.gone = min(t.gone, o.call)
			b.stopAt(o.call, i)
			b.releaseEnds(o, &proved)
		case o.act == lost:
			b.stopAt(o.call, i)
			b.coreStop = min(b.coreStop, o.call)
		case o.act == extend && o.ans == notHeld:
			b.stopAt(o.ret, i)
			b.coreStop = min(b.coreStop, o.call)
		}
	}
	if proved != forever {
		b.coreStop = min(b.coreStop, proved)
	} else {
		b.coreStop = min(b.coreStop, t.gone)
	}
}

func (b *leaseMaker) releaseEnds(o *op, proved *time.Duration) {
	if o.ans == okay && b.c.ReleaseHeld && b.c.OwnerChecked && *proved == forever {
		*proved = o.call
	}
}

func (b *leaseMaker) stopAt(at time.Duration, i int32) {
	if at < b.t.stop {
		b.t.stop, b.t.stopBy = at, i
	}
}

func (b *leaseMaker) pieces() {
	for _, i := range b.v.ofGrant(b.t.grant) {
		switch o := &b.v.ops[i]; {
		case o.act == acquire && o.ans == okay, o.act == extend && o.ans == okay:
			b.add(i, o, b.v.ttl(o, b.c))
		case o.act == renewed:
			b.add(i, o, 0)
		}
	}
	_, alive := b.t.inForce()
	b.t.dead = !alive
}

func (b *leaseMaker) add(i int32, o *op, ttl time.Duration) {
	valid := b.v.validUntil(o)
	keeps := scale(ttl, 1/(1+b.c.Drift))
	core := time.Duration(0)
	if ttl > 0 {
		core = plus(o.call, keeps)
		b.t.legal = max(b.t.legal, core)
		b.t.over = b.t.over || valid > plus(plus(o.ret, scale(ttl, 1+b.c.Drift)), b.v.header.ClockError)
	}
	if valid == 0 && !b.c.Background {
		valid = core
	}
	b.t.known = b.t.known || valid > 0
	p := piece{from: o.ret, belief: min(valid, b.t.stop), core: min(core, b.coreStop), op: i}
	if p.end() > p.from {
		b.t.pieces = append(b.t.pieces, p)
	}
}

// scale multiplies, and is forever where that overflows.
func scale(d time.Duration, by float64) time.Duration {
	if by == 1 {
		return d
	}
	if x := float64(d) * by; x < float64(forever) {
		return time.Duration(x)
	}
	return forever
}

// plus adds what is not negative, and is forever where that overflows.
func plus(a, b time.Duration) time.Duration {
	if a > forever-b {
		return forever
	}
	return a + b
}

// deadline is until when, by what it had been told at now, the client may have reckoned that its lease lasts.
func (v *view) deadline(t *tenure, c *history.Contract, now time.Duration) time.Duration {
	var d time.Duration
	for _, i := range v.ofGrant(t.grant) {
		o := &v.ops[i]
		if o.ans != okay || o.ret > now || o.act != acquire && o.act != extend && o.act != renewed {
			continue
		}
		valid := v.validUntil(o)
		if valid == 0 && o.act != renewed && !c.Background {
			valid = plus(o.call, scale(v.ttl(o, c), 1/(1+c.Drift)))
		}
		d = max(d, valid)
	}
	return d
}
