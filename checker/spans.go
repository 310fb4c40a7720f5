package checker

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// span is a time, from from to to.
type span struct{ from, to time.Duration }

// union puts spans together that overlap or touch, and puts them in order.
func union(spans []span) []span { return bridged(spans, 0) }

// bridged puts spans together that overlap, touch, or are at most gap apart.
func bridged(spans []span, gap time.Duration) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.from-gap <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// without takes the times of off, which are in order and apart, out of spans.
func without(spans, off []span) []span {
	if len(off) == 0 {
		return spans
	}
	var out []span
	for _, s := range spans {
		k := sort.Search(len(off), func(k int) bool { return off[k].to > s.from })
		for ; k < len(off) && off[k].from < s.to; k++ {
			if off[k].from > s.from {
				out = append(out, span{s.from, off[k].from})
			}
			s.from = off[k].to
		}
		if s.from <= s.to {
			out = append(out, s)
		}
	}
	return out
}
