package checker

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"
)

// crowding is a set of holds that need more than there is, at one moment or, for a float, at each moment of its window.
type crowding struct {
	holds  []hold // the fewest that show it; for a float, it is the last
	at, to time.Duration
	float  bool
}

// sweepPermits finds the moments at which the certain holds of a semaphore with n permits add up to more, and the
// floats that find no moment with enough permits left. It names each time once.
func sweepPermits(holds []hold, n int64) []crowding {
	var out []crowding
	var solid, floats []hold
	for _, h := range holds {
		switch {
		case int64(h.permits) > n:
			out = append(out, crowding{holds: []hold{h}, at: h.ac, to: h.ri})
		case h.float || h.ac == h.ri:
			floats = append(floats, h)
		default:
			solid = append(solid, h)
		}
	}
	steps := stepsOf(solid)
	out = append(out, overfull(solid, steps, n)...)
	return append(out, starvedFloats(solid, floats, steps, n)...)
}

// step is a change of the permits that are out.
type change struct {
	at    time.Duration
	by    int64
	which int
}

// stepsOf sorts what is taken and given back by time; at one moment it is given back first.
func stepsOf(solid []hold) []change {
	out := make([]change, 0, 2*len(solid))
	for i := range solid {
		out = append(out, change{solid[i].ac, int64(solid[i].permits), i})
		if solid[i].ri != forever {
			out = append(out, change{solid[i].ri, -int64(solid[i].permits), i})
		}
	}
	slices.SortFunc(out, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by), cmp.Compare(a.which, b.which))
	})
	return out
}

// overfull keeps the holds that are open, and reports when their sum rises over n.
func overfull(solid []hold, steps []change, n int64) []crowding {
	var out []crowding
	open := map[int]bool{}
	sum := int64(0)
	for _, s := range steps {
		sum += s.by
		if s.by < 0 {
			delete(open, s.which)
			continue
		}
		open[s.which] = true
		if sum > n && sum-s.by <= n {
			out = append(out, heaviest(solid, open, s.at, n))
		}
	}
	return out
}

// heaviest takes the heaviest open holds until they need more than n: then none can be left out.
func heaviest(solid []hold, open map[int]bool, at time.Duration, n int64) crowding {
	var list []hold
	for i := range open {
		list = append(list, solid[i])
	}
	slices.SortFunc(list, func(a, b hold) int { return cmp.Or(cmp.Compare(b.permits, a.permits), cmp.Compare(a.acq, b.acq)) })
	sum, k := int64(0), 0
	for ; sum <= n; k++ {
		sum += int64(list[k].permits)
	}
	c := crowding{holds: list[:k], at: at, to: forever}
	for _, h := range c.holds {
		c.to = min(c.to, h.ri)
	}
	return c
}

// starvedFloats looks for each float's moment with few enough permits out.
func starvedFloats(solid, floats []hold, steps []change, n int64) []crowding {
	if len(floats) == 0 {
		return nil
	}
	l := newLevels(steps)
	var out []crowding
	for _, f := range floats {
		from, to := f.window()
		if l.least(from, to)+int64(f.permits) > n {
			around := coverOf(solid, from, to, n-int64(f.permits))
			out = append(out, crowding{holds: append(around, f), at: from, to: to, float: true})
		}
	}
	return out
}

// window is the time in which a hold of no length must lie.
func (h *hold) window() (from, to time.Duration) {
	if h.float {
		return h.ri, h.rc
	}
	return h.ac, h.ri
}

// levels is how many permits are out: at each moment of change the least, and after it.
type levels struct {
	at    []time.Duration
	min   [][]int64 // min[0] is the least at each moment; min[k] that of 2^k moments from there
	after []int64
}

func newLevels(steps []change) *levels {
	l := &levels{min: [][]int64{nil}}
	sum := int64(0)
	for i := 0; i < len(steps); {
		least, j := sum, i
		for ; j < len(steps) && steps[j].at == steps[i].at; j++ {
			sum += steps[j].by
			least = min(least, sum)
		}
		l.at = append(l.at, steps[i].at)
		l.min[0] = append(l.min[0], least)
		l.after = append(l.after, sum)
		i = j
	}
	for k := 1; 1<<k <= len(l.at); k++ {
		row := make([]int64, len(l.at)-1<<k+1)
		for i := range row {
			row[i] = min(l.min[k-1][i], l.min[k-1][i+1<<(k-1)])
		}
		l.min = append(l.min, row)
	}
	return l
}

// least is the fewest permits out at some moment from from to to.
func (l *levels) least(from, to time.Duration) int64 {
	i := sort.Search(len(l.at), func(k int) bool { return l.at[k] >= from })
	j := sort.Search(len(l.at), func(k int) bool { return l.at[k] > to })
	best := int64(math.MaxInt64)
	if i == len(l.at) || l.at[i] != from {
		best = 0
		if i > 0 {
			best = l.after[i-1]
		}
	}
	if i < j {
		k := 0
		for 2<<k <= j-i {
			k++
		}
		best = min(best, l.min[k][i], l.min[k][j-1<<k])
	}
	return best
}

// coverOf returns holds that keep more than limit permits out at every moment from from to to, leaving out one after
// the other those that are not needed.
func coverOf(solid []hold, from, to time.Duration, limit int64) []hold {
	var list []hold
	for _, h := range solid {
		if h.ac <= to && h.ri >= from {
			list = append(list, h)
		}
	}
	const most = 200 // with more, leaving them out one by one would take too long
	if len(list) > most {
		return list
	}
	slices.SortFunc(list, func(a, b hold) int { return cmp.Or(cmp.Compare(a.permits, b.permits), cmp.Compare(a.acq, b.acq)) })
	for i := 0; i < len(list); {
		without := slices.Delete(slices.Clone(list), i, i+1)
		if newLevels(stepsOf(without)).least(from, to) > limit {
			list = without
		} else {
			i++
		}
	}
	return list
}
