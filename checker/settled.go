package checker

// settler handles an owner that goes on acquiring after unknown operations, of a lock without re-entry. It is exact
// while each unknown release is settled by the owner's next definite answer: an OK acquire or not-held proves that it
// fired. Unknown acquires stay outstanding, and fire only for an OK release that nothing else explains.
type settler struct {
	n     *normaliser
	ids   []int32
	first int // of the operations that led to where the owner is now
	state state
	cur   hold
	acqs  []int32 // outstanding unknown acquires
}

type state uint8

const (
	free  state = iota
	held        // certainly
	maybe       // an unknown release of the current hold is outstanding
)

// step is what follows from one operation.
type step uint8

const (
	goOn step = iota
	done      // a breach: what comes after it says nothing
	open      // from here on, nothing is certain
)

func (n *normaliser) settled(ids []int32) bool {
	s := &settler{n: n, ids: ids}
	for k, i := range ids {
		o := &n.v.ops[i]
		next := open
		if !n.overlaps(ids, k) {
			next = s.step(o, i, k)
		}
		switch next {
		case done:
			return true
		case open:
			s.stop(o)
			n.poison(i)
			return false
		}
	}
	if s.state != free {
		n.holds = append(n.holds, s.cur)
	}
	return true
}

// stop keeps what is certain of the current hold: that it lasted up to o, or to its unknown release.
func (s *settler) stop(o *op) {
	switch {
	case s.state == held && s.cur.ac <= o.call:
		s.cur.ri = o.call
		s.n.holds = append(s.n.holds, s.cur)
	case s.state == maybe:
		s.n.holds = append(s.n.holds, s.cur)
	}
}

func (s *settler) step(o *op, i int32, k int) step {
	switch {
	case o.act == acquire && unsure(o):
		return s.unknownAcquire(o, i)
	case o.act == acquire:
		return s.acquired(o, i, k)
	case unsure(o):
		return s.unknownRelease(o, i)
	case o.ans == notHeld:
		return s.told(o, k)
	case o.ans == gone && s.state == free:
		return goOn
	}
	return s.released(i, k)
}

func (s *settler) unknownAcquire(o *op, i int32) step {
	if len(s.acqs) > 0 && !s.alike(o) {
		return open
	}
	s.acqs = append(s.acqs, i)
	return goOn
}

// alike says whether o asks for the same as the unknown acquires before it.
func (s *settler) alike(o *op) bool {
	a := &s.n.v.ops[s.acqs[0]]
	return a.shared == o.shared && s.n.v.permits(a) == s.n.v.permits(o)
}

func (s *settler) acquired(o *op, i int32, k int) step {
	if s.state == held {
		s.n.breach(secondGrant, s.ids[s.first:k+1])
		s.n.holds = append(s.n.holds, s.cur)
		return done
	}
	if s.state == maybe {
		s.cur.rc = o.ret
		s.n.holds = append(s.n.holds, s.cur)
		s.state = free
	}
	if len(s.acqs) > 0 && !s.alike(o) {
		return open
	}
	if len(s.acqs) == 0 {
		s.first = k
	}
	s.cur, s.state = s.n.begin(i), held
	return goOn
}

func (s *settler) unknownRelease(o *op, i int32) step {
	if s.state != held {
		return open
	}
	s.cur.rel, s.cur.ri, s.cur.rc = i, o.call, forever
	s.state = maybe
	return goOn
}

func (s *settler) told(o *op, k int) step {
	switch s.state {
	case held:
		s.n.lose(s.cur, s.ids[s.first:k+1])
		return done
	case maybe:
		s.cur.rc = o.ret
		s.n.holds = append(s.n.holds, s.cur)
		s.state = free
	}
	return goOn
}

func (s *settler) released(i int32, k int) step {
	switch s.state {
	case maybe: // either this or the unknown one freed it; the other may yet free a later hold
		return open
	case held:
		s.n.finish(s.cur, i)
		s.state = free
		return goOn
	}
	if len(s.acqs) == 0 {
		s.n.breach(notTheirs, s.ids[s.first:k+1])
		return done
	}
	s.n.floating(s.acqs[0], i)
	s.acqs = s.acqs[1:]
	return goOn
}
