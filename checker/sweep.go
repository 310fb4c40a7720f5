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
	solid, floats := split(holds)
	slices.SortFunc(solid, byAcquired)
	var out []clash
	m := -1
	for i := range solid {
		if m >= 0 && solid[m].ri > solid[i].ac {
			out = append(out, clash{a: solid[m], b: solid[i], at: solid[i].ac, to: min(solid[m].ri, solid[i].ri)})
		}
		if m < 0 || solid[i].ri >= solid[m].ri {
			m = i
		}
	}
	return append(out, floatsInside(solid, floats)...)
}

// floatsInside needs solid sorted by ac.
func floatsInside(solid, floats []hold) []clash {
	if len(floats) == 0 {
		return nil
	}
	longest := make([]int, len(solid)) // of the holds up to here, the one that ends last
	for i := range solid {
		longest[i] = i
		if i > 0 && solid[longest[i-1]].ri > solid[i].ri {
			longest[i] = longest[i-1]
		}
	}
	var out []clash
	for _, f := range floats {
		j := sort.Search(len(solid), func(k int) bool { return solid[k].ac >= f.ri }) - 1
		if j < 0 {
			continue
		}
		if c := solid[longest[j]]; c.ri > f.rc {
			out = append(out, clash{a: c, b: f, at: f.ri, to: f.rc, float: true})
		}
	}
	return out
}

func byAcquired(a, b hold) int {
	return cmp.Or(cmp.Compare(a.ac, b.ac), cmp.Compare(a.ri, b.ri), cmp.Compare(a.acq, b.acq))
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
