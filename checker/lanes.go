package checker

import "github.com/locktest/locktest/history"

// line is what may have one operation open at a time, lane what is known of it.
type line struct {
	client  string
	thread  int
	process int
}

type lane struct {
	client, thread int32
	open           int32 // the op that has not been answered; -1: none
	orphan         bool  // its client was killed meanwhile
	begun          bool  // it stands in the builder's begun
}

// recent is a lane with what it was found by.
type recent struct {
	line
	lane *lane
}

// lane looks among the recent ones first: most histories have few, and hashing a name for each event costs more than
// all else that is done with it.
func (b *builder) lane(e *history.Op) *lane {
	h := uint(e.Thread)*31 + uint(e.Process)*7
	if n := len(e.Client); n > 0 {
		h += uint(e.Client[n-1])
		if n > 1 {
			h += 10 * uint(e.Client[n-2])
		}
	}
	r := &b.recent[h%uint(len(b.recent))]
	if r.lane == nil || r.thread != e.Thread || r.process != e.Process || r.client != e.Client {
		*r = recent{line{e.Client, e.Thread, e.Process}, b.findLane(e)}
	}
	return r.lane
}

func (b *builder) findLane(e *history.Op) *lane {
	at := line{e.Client, e.Thread, e.Process}
	l := b.lanes[at]
	if l == nil {
		c := b.v.clients.number(e.Client)
		w := worker{c, e.Thread}
		n, seen := b.threads[w]
		if !seen {
			n = int32(len(b.threads))
			b.threads[w] = n
		}
		l = &lane{client: c, thread: n, open: -1}
		b.lanes[at] = l
	}
	return l
}
