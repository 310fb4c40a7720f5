package checker

// exact handles an owner that only releases after its first unknown operation.
func (n *normaliser) exact(ids []int32) bool {
	p := n.prefix(ids)
	switch {
	case p.breached:
		return true
	case p.next < len(ids):
		return n.tail(p.cur, p.depth, ids, p.first, p.next)
	case p.depth > 0:
		n.holds = append(n.holds, p.cur)
	}
	return true
}

// certain handles an owner of a re-entrant lock that goes on after unknown operations: it keeps what was done before
// the first of them. A hold that had not ended then lasted at least until then.
func (n *normaliser) certain(ids []int32) bool {
	p := n.prefix(ids)
	if p.breached || p.next == len(ids) {
		return true
	}
	o := &n.v.ops[ids[p.next]]
	n.poison(ids[p.next])
	if p.depth > 0 && p.cur.ac <= o.call {
		p.cur.ri = o.call
		n.holds = append(n.holds, p.cur)
	}
	return false
}

// prefix is where an owner's definite operations led.
type prefix struct {
	cur      hold
	depth    int
	first    int // of the operations that led to the current hold
	next     int // the first that is unknown, or overlaps the one before
	breached bool
}

func (n *normaliser) prefix(ids []int32) prefix {
	var p prefix
	for p.next = 0; p.next < len(ids); p.next++ {
		k := p.next
		o := &n.v.ops[ids[k]]
		if unsure(o) || n.overlaps(ids, k) {
			return p
		}
		switch {
		case o.act == acquire && p.depth == n.limit:
			n.breach(secondGrant, ids[p.first:k+1])
			n.holds = append(n.holds, p.cur)
			p.breached = true
		case o.act == acquire:
			if p.depth == 0 {
				p.cur, p.first = n.begin(ids[k]), k
			}
			p.depth++
		case o.ans == notHeld && p.depth > 0:
			n.lose(p.cur, ids[p.first:k+1])
			p.breached = true
		case o.ans == okay && p.depth == 0:
			n.breach(notTheirs, ids[p.first:k+1])
			p.breached = true
		case o.ans != notHeld && p.depth > 0:
			if p.depth--; p.depth == 0 {
				n.finish(p.cur, ids[k])
			}
		}
		if p.breached {
			return p
		}
	}
	return p
}

// tail handles what follows the first unknown operation, ids[k]: perhaps that acquire, then releases alone.
func (n *normaliser) tail(cur hold, depth int, ids []int32, first, k int) bool {
	pending := int32(-1)
	if o := &n.v.ops[ids[k]]; o.act == acquire {
		pending = ids[k]
		if depth > 0 && (o.shared != cur.shared || n.v.permits(o) != cur.permits) {
			// It would add another weight than the hold that it is nested in: which of the two a release takes away matters.
			n.poison(pending)
			cur.ri = o.call
			n.holds = append(n.holds, cur)
			return false
		}
		k++
	}
	releases := ids[k:]
	if bad := n.impossible(depth, pending >= 0, releases); bad >= 0 {
		n.contradict(cur, ids[first:k+bad+1])
		return true
	}
	n.end(cur, depth, pending, releases)
	return true
}

// contradict reports the last of ids, an answer that no course of events allows. That the owner does not hold can only
// be impossible while cur is open.
func (n *normaliser) contradict(cur hold, ids []int32) {
	if n.v.ops[ids[len(ids)-1]].ans == notHeld {
		n.lose(cur, ids)
		return
	}
	n.breach(notTheirs, ids)
}

// end says when the outer hold ended at the earliest, and whether the pending acquire must have taken effect.
func (n *normaliser) end(cur hold, depth int, pending int32, releases []int32) {
	last, before := lastOK(n.v, releases)
	if depth == 0 {
		if pending >= 0 && last > 0 {
			n.floating(pending, releases[last-1])
		}
		return
	}
	ends := max(depth, last)
	// The last OK release may have freed the pending acquire's own hold; that leaves the outer one shorter, and a hold
	// of no length fits wherever the longer outer hold did.
	float := pending >= 0 && last > depth
	if float {
		ends = max(depth, before)
	}
	if ends > len(releases) {
		n.holds = append(n.holds, cur)
	} else {
		n.finish(cur, releases[ends-1])
	}
	if float {
		n.floating(pending, releases[last-1])
	}
}

// lastOK returns the places, from 1, of the last release that proves a hold and of the one before it; 0: none.
func lastOK(v *view, releases []int32) (last, before int) {
	for j, i := range releases {
		if v.ops[i].ans == okay && v.ops[i].act == release {
			last, before = j+1, last
		}
	}
	return last, before
}

// depths is one state that an owner may be in.
type depths struct {
	depth    int
	releases int  // unknown ones that have not fired
	acquire  bool // the unknown acquire has not fired
}

// impossible returns the first release whose answer fits no state; -1: none.
func (n *normaliser) impossible(depth int, pending bool, releases []int32) int {
	states := map[depths]struct{}{{depth, 0, pending}: {}}
	for j, i := range releases {
		n.unfold(states)
		next := map[depths]struct{}{}
		for s := range states {
			if t, ok := s.after(&n.v.ops[i]); ok {
				next[t] = struct{}{}
			}
		}
		if len(next) == 0 {
			return j
		}
		states = next
	}
	return -1
}

func (s depths) after(o *op) (depths, bool) {
	switch {
	case unsure(o):
		s.releases++
		return s, true
	case o.ans == notHeld:
		return s, s.depth == 0
	case o.ans == gone && s.depth == 0:
		return s, true
	}
	s.depth--
	return s, s.depth >= 0
}

// unfold adds the states to which unknown operations may lead at any time.
func (n *normaliser) unfold(states map[depths]struct{}) {
	var work []depths
	for s := range states {
		work = append(work, s)
	}
	add := func(s depths) {
		if _, seen := states[s]; !seen {
			states[s] = struct{}{}
			work = append(work, s)
		}
	}
	for len(work) > 0 {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		if s.acquire && s.depth < n.limit {
			add(depths{s.depth + 1, s.releases, false})
		}
		if s.releases > 0 && s.depth > 0 {
			add(depths{s.depth - 1, s.releases - 1, s.acquire})
		}
	}
}

func (n *normaliser) poison(i int32) {
	if n.openOp < 0 {
		n.openOp = i
	}
}
