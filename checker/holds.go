package checker

import (
	"slices"
	"time"
)

// hold is one tenure of a lock by an owner, as narrow as the answers allow: it certainly lasts from ac, when the
// acquire had returned, to ri, the call of the release that may have been the first to fire.
type hold struct {
	ac, ri, rc time.Duration // rc is forever where no definite release ended it
	acq, rel   int32         // ops; rel is -1 where nothing ended it
	owner      int32
	permits    int32
	float      bool // the acquire is unknown and its release was answered OK: of no length, somewhere in [ri, rc]
	shared     bool
	told       bool // it ended when its owner was told, at rel, that it does not hold
}

// breach is an answer that contradicts what its own owner was told before.
type breach struct {
	kind string
	ops  []int32
	at   time.Duration
}

// Kinds of breach. The first is a matter of exclusion, the others of ownership.
const (
	secondGrant = "second-grant" // to an owner that certainly holds, of a lock that is not re-entrant
	lostLock    = "lost-lock"    // not-held to an owner that certainly holds
	notTheirs   = "not-theirs"   // a release was answered OK although its owner could not hold
)

// normaliser turns what owners did into holds.
//
// An unknown acquire that no OK release needs is left out; an unknown release counts from its call; an OK acquire
// counts from its return. Each step keeps a legal order where there was one and makes none where there was none, so
// the holds can be compared instead of the operations. It is exact for an owner that only releases after its first
// unknown operation, and, without re-entry, for one whose next definite answer settles each unknown release. Of other
// owners it claims only what is certain, and open counts them.
type normaliser struct {
	v        *view
	limit    int
	holds    []hold
	breaches []breach
	open     int       // owners of whom not all can be said
	raw      [][]int32 // the operations of those owners
	fromOpen []hold    // those of holds that are such owners'
	openOp   int32     // where that began; -1: nowhere
}

func normalise(v *view, l *lockView) *normaliser {
	n := &normaliser{v: v, limit: max(1, l.contract.Reentry), openOp: -1, holds: make([]hold, 0, len(l.grants))}
	v.eachOwner(l, func(ids []int32) {
		before := len(n.holds)
		if !n.owner(ids) {
			n.open++
			n.raw = append(n.raw, slices.Clone(ids))
			n.fromOpen = append(n.fromOpen, n.holds[before:]...)
		}
	})
	asMoments(n.holds)
	asMoments(n.fromOpen)
	return n
}

// eachOwner gives f the acquires and releases of each owner of l, in the order of their calls, without what certainly
// had no effect. f must not keep them.
func (v *view) eachOwner(l *lockView, f func(ids []int32)) {
	at := map[int32]int{}
	var several [][]int32 // of owners with more than one grant
	var own []int32
	for _, g := range l.grants {
		owner := v.grants[g].owner
		if !v.shared[owner] {
			own = v.appendMattering(own[:0], g)
			f(own)
			continue
		}
		k, seen := at[owner]
		if !seen {
			k = len(several)
			at[owner] = k
			several = append(several, nil)
		}
		several[k] = v.appendMattering(several[k], g)
	}
	for _, ids := range several {
		if !slices.IsSorted(ids) {
			slices.Sort(ids)
		}
		f(ids)
	}
}

func (v *view) appendMattering(ids []int32, g int32) []int32 {
	for _, i := range v.ofGrant(g) {
		if matters(&v.ops[i]) {
			ids = append(ids, i)
		}
	}
	return ids
}

func matters(o *op) bool {
	switch o.act {
	case acquire:
		return o.ans == okay || o.ans == unknown
	case release:
		return o.ans != failed
	}
	return o.act == lost
}

// unsure also takes a loss for a release whose outcome nobody knows.
func unsure(o *op) bool { return o.ans == unknown || o.act == lost }

func (n *normaliser) owner(ids []int32) bool {
	if n.retired(ids) {
		return n.exact(ids)
	}
	if n.limit == 1 {
		return n.settled(ids)
	}
	return n.certain(ids)
}

// retired says whether the owner never acquires after its first unknown operation, and does one thing at a time.
func (n *normaliser) retired(ids []int32) bool {
	doubt := false
	for k, i := range ids {
		o := &n.v.ops[i]
		if doubt && o.act == acquire || n.overlaps(ids, k) {
			return false
		}
		doubt = doubt || unsure(o)
	}
	return true
}

// overlaps says whether the definite operation before ids[k] was still open when ids[k] began.
func (n *normaliser) overlaps(ids []int32, k int) bool {
	if k == 0 {
		return false
	}
	p := &n.v.ops[ids[k-1]]
	return !unsure(p) && p.ret-2*n.v.slack > n.v.ops[ids[k]].call
}

func (n *normaliser) begin(i int32) hold {
	o := &n.v.ops[i]
	return hold{
		ac: o.ret, ri: forever, rc: forever, acq: i, rel: -1, owner: n.v.grants[o.grant].owner,
		permits: n.v.permits(o), shared: o.shared,
	}
}

// finish ends h with the release i, which certainly ended it only if its answer is definite.
func (n *normaliser) finish(h hold, i int32) {
	o := &n.v.ops[i]
	h.rel, h.ri, h.rc = i, o.call, o.ret
	if unsure(o) {
		h.rc = forever
	}
	n.holds = append(n.holds, h)
}

// floating is the hold that an unknown acquire must have made for the release i to be answered OK.
func (n *normaliser) floating(acq, i int32) {
	a, r := &n.v.ops[acq], &n.v.ops[i]
	n.holds = append(n.holds, hold{
		ac: forever, ri: r.call, rc: r.ret, acq: acq, rel: i, owner: n.v.grants[a.grant].owner,
		permits: n.v.permits(a), shared: a.shared, float: true,
	})
}

func (n *normaliser) breach(kind string, ids []int32) {
	n.breaches = append(n.breaches, breach{kind, slices.Clone(ids), n.v.ops[ids[len(ids)-1]].ret})
}

// lose records that the owner of h was told at the last of ids that it does not hold. Until then it did: nothing but
// its own release ends a hold without expiry.
func (n *normaliser) lose(h hold, ids []int32) {
	n.breach(lostLock, ids)
	h.rel, h.told = ids[len(ids)-1], true
	h.ri, h.rc = n.v.ops[h.rel].ret, n.v.ops[h.rel].ret
	n.holds = append(n.holds, h)
}

func (v *view) permits(o *op) int32 { return o.permits }
