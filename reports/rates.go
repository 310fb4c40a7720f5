package reports

import (
	"fmt"
	"io"
	"math"

	"github.com/locktest/locktest/checker"
)

// Rate is in how many runs of one scenario and lock a property was violated, and the 95 % interval of its share.
type Rate struct {
	Scenario string  `json:"scenario"`
	Lock     string  `json:"lock"`
	Property string  `json:"property"`
	Violated int     `json:"violated"`
	Decided  int     `json:"decided"` // runs that decided on the property: the others count on neither side
	Runs     int     `json:"runs"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Interval string  `json:"interval"` // how the ends were computed
}

// Names of Rate.Interval.
const (
	intervalWilson = "wilson-95"
	intervalExact  = "exact-upper-95"
)

// Rates are those of every property that a series decided on. They mean something only where it was fixed before how many
// runs there are: a series that stops at its first violation has none.
func (s *Series) Rates() []Rate {
	var out []Rate
	for _, name := range s.properties() {
		r := Rate{Scenario: s.Name, Lock: s.Lock, Property: name, Runs: len(s.Outcomes)}
		for _, o := range s.Outcomes {
			for _, result := range o.Results {
				if result.Property != name || name == checker.Coverage || disputed(o) {
					continue
				}
				switch result.Verdict {
				case checker.Violated:
					r.Violated++
					r.Decided++
				case checker.Held:
					r.Decided++
				}
			}
		}
		if r.Decided > 0 {
			r.Low, r.High, r.Interval = interval(r.Violated, r.Decided)
			out = append(out, r)
		}
	}
	return out
}

// interval is the 95 % interval of a share of which k of n were seen: Wilson's score interval (E. B. Wilson 1927), and of
// none the exact upper bound, below which the share lies with 95 % confidence (the rule of three).
func interval(k, n int) (low, high float64, name string) {
	if k == 0 {
		return 0, 1 - math.Pow(.05, 1/float64(n)), intervalExact
	}
	const z = 1.959963984540054 // the 97.5 % quantile of the normal distribution
	p, m := float64(k)/float64(n), float64(n)
	middle := p + z*z/(2*m)
	reach := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	scale := 1 + z*z/m
	return max(0, (middle-reach)/scale), min(1, (middle+reach)/scale), intervalWilson
}

func (r Rate) String() string {
	of := fmt.Sprintf("violated in %d of %s", r.Violated, count(r.Decided, "run"))
	if left := r.Runs - r.Decided; left > 0 {
		of += fmt.Sprintf(" (%d more didn't decide)", left)
	}
	if r.Interval == intervalExact {
		return fmt.Sprintf("%s: the rate is below %.1f %% with 95 %% confidence", of, 100*r.High)
	}
	return fmt.Sprintf("%s: %.1f %%, 95 %% Wilson interval %.1f to %.1f %%", of, 100*float64(r.Violated)/float64(r.Decided), 100*r.Low, 100*r.High)
}

// WriteRates tells of the properties that were violated at all, and of mutual exclusion.
func WriteRates(w io.Writer, s *Series, style Style) error {
	p := &page{style: style}
	for _, r := range s.Rates() {
		if r.Violated > 0 || r.Property == checker.MutualExclusion {
			p.wrapped("  "+pad(plain(r.Property), 18), r.String())
		}
	}
	return p.flush(w)
}
