package checker

import (
	"slices"
	"sort"
	"time"
)

// sweepReadWrite finds exclusive holds that overlap any other, and floats that find no free moment: a shared one
// within an exclusive hold, an exclusive one within the union of holds.
func sweepReadWrite(holds []hold) []crowding {
	var solid, floats []hold
	for _, h := range holds {
		if h.float || h.ac == h.ri {
			floats = append(floats, h)
		} else {
			solid = append(solid, h)
		}
	}
	slices.SortFunc(solid, byAcquired)
	return append(writersMeet(solid), strayFloats(solid, floats)...)
}

// writersMeet compares each hold with the exclusive and the shared one before it that last longest.
func writersMeet(solid []hold) []crowding {
	var out []crowding
	writer, reader := -1, -1
	meet := func(a int, b *hold) {
		if a >= 0 && solid[a].ri > b.ac {
			out = append(out, crowding{holds: []hold{solid[a], *b}, at: b.ac, to: min(solid[a].ri, b.ri)})
		}
	}
	for i := range solid {
		h := &solid[i]
		meet(writer, h)
		if h.shared {
			if reader < 0 || h.ri >= solid[reader].ri {
				reader = i
			}
			continue
		}
		meet(reader, h)
		if writer < 0 || h.ri >= solid[writer].ri {
			writer = i
		}
	}
	return out
}

// block is a time that is covered without a gap by holds, lo to hi in their order.
type block struct {
	from, to time.Duration
	lo, hi   int
}

func strayFloats(solid, floats []hold) []crowding {
	if len(floats) == 0 {
		return nil
	}
	writers, all := blocks(solid, true), blocks(solid, false)
	var out []crowding
	for _, f := range floats {
		from, to := f.window()
		among := all
		if f.shared {
			among = writers
		}
		k := sort.Search(len(among), func(k int) bool { return among[k].from >= from }) - 1
		if k >= 0 && among[k].to > to {
			cover := chain(solid, among[k], from, to, f.shared)
			out = append(out, crowding{holds: append(cover, f), at: from, to: to, float: true})
		}
	}
	return out
}

// blocks joins holds whose insides overlap. What only touches leaves a free moment.
func blocks(solid []hold, writersOnly bool) []block {
	var out []block
	for i := range solid {
		h := &solid[i]
		if writersOnly && h.shared {
			continue
		}
		if n := len(out); n > 0 && h.ac < out[n-1].to {
			out[n-1].to, out[n-1].hi = max(out[n-1].to, h.ri), i
		} else {
			out = append(out, block{h.ac, h.ri, i, i})
		}
	}
	return out
}

// chain returns the fewest holds of b that cover from to to: always the one that reaches furthest.
func chain(solid []hold, b block, from, to time.Duration, writersOnly bool) []hold {
	var out []hold
	for at, k := from, b.lo; at <= to; {
		best := -1
		for ; k <= b.hi && solid[k].ac < at; k++ {
			if (!writersOnly || !solid[k].shared) && (best < 0 || solid[k].ri > solid[best].ri) {
				best = k
			}
		}
		if best < 0 {
			break
		}
		out = append(out, solid[best])
		at = solid[best].ri
	}
	return out
}
