package checker

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// clash is two holds that no order of events can keep apart. For a float, b is the float.
type clash struct {
	a, b   hold
	at, to time.Duration
	float  bool
}

// sweepMutex finds the holds that overlap: certain ones, and unknown acquires, proved by their release, that find no
// free moment. Holds that touch do not overlap. Each hold is named with one that it meets.
func sweepMutex(holds []hold) []clash {
	solid, floats := order(holds)
	var out []clash
	m := -1
	for i := range solid {
		h := &holds[solid[i]]
		if m >= 0 && holds[solid[m]].ri > h.ac {
			a := &holds[solid[m]]
			out = append(out, clash{a: *a, b: *h, at: h.ac, to: min(a.ri, h.ri)})
		}
		if m < 0 || h.ri >= holds[solid[m]].ri {
			m = i
		}
	}
	return append(out, floatsInside(holds, solid, floats)...)
}

// order returns the places of the certain holds, by when they were granted, and of the floats.
func order(holds []hold) (solid, floats []int32) {
	times := make([]timed, 0, len(holds))
	for i := range holds {
		if holds[i].float {
			floats = append(floats, int32(i))
		} else {
			times = append(times, timed{holds[i].ac, int32(i)})
		}
	}
	slices.SortFunc(times, func(a, b timed) int {
		if a.at != b.at {
			return before(a.at, b.at)
		}
		return byAcquired(holds[a.place], holds[b.place])
	})
	solid = make([]int32, len(times))
	for i, t := range times {
		solid[i] = t.place
	}
	return solid, floats
}

// before is -1 if a is before b, which differs from it, else 1.
func before(a, b time.Duration) int {
	if a < b {
		return -1
	}
	return 1
}

// timed is the place of something in a list, next to the time that it is sorted by: a sort that needn't look at the
// list is several times faster.
type timed struct {
	at    time.Duration
	place int32
}

// floatsInside needs solid sorted by ac.
func floatsInside(holds []hold, solid, floats []int32) []clash {
	if len(floats) == 0 {
		return nil
	}
	longest := make([]int32, len(solid)) // of the holds up to here, the one that ends last
	for i := range solid {
		longest[i] = solid[i]
		if i > 0 && holds[longest[i-1]].ri > holds[solid[i]].ri {
			longest[i] = longest[i-1]
		}
	}
	var out []clash
	for _, k := range floats {
		f := &holds[k]
		j := sort.Search(len(solid), func(k int) bool { return holds[solid[k]].ac >= f.ri }) - 1
		if j < 0 {
			continue
		}
		if c := &holds[longest[j]]; c.ri > f.rc {
			out = append(out, clash{a: *c, b: *f, at: f.ri, to: f.rc, float: true})
		}
	}
	return out
}

func byAcquired(a, b hold) int {
	if a.ac != b.ac {
		return cmp.Compare(a.ac, b.ac)
	}
	return cmp.Or(cmp.Compare(a.ri, b.ri), cmp.Compare(a.acq, b.acq))
}

func split(holds []hold) (solid, floats []hold) {
	solid = make([]hold, 0, len(holds))
	for _, h := range holds {
		if h.float {
			floats = append(floats, h)
		} else {
			solid = append(solid, h)
		}
	}
	return solid, floats
}
