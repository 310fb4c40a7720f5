package baseline

import (
	"slices"
	"strings"

	"github.com/locktest/locktest/checker"
)

// rareRuns and rareShare say what is rare: seen in under a tenth of at least ten runs.
const (
	rareRuns  = 10
	rareShare = 10
)

// Seen is a violation and how often it was seen.
type Seen struct {
	Entry
	Seen int  `json:"seen"` // runs in which it was
	Runs int  `json:"runs"` // of this scenario and lock
	Rare bool `json:"rare"` // in under a tenth of at least ten runs
}

// Comparison is what became of known violations, and which others there are.
type Comparison struct {
	New      []Seen `json:"new"`      // nobody accepted it
	Ongoing  []Seen `json:"ongoing"`  // accepted, and seen
	Resolved []Seen `json:"resolved"` // accepted, and in no run, although each of them decided on the property
	Unclear  []Seen `json:"unclear"`  // accepted, and in no run, but not every run decided
}

// Compare looks at runs. Entries whose scenario and lock weren't run are left out: nothing is known of them.
func (f *File) Compare(runs []Run) *Comparison {
	c := &Comparison{New: []Seen{}, Ongoing: []Seen{}, Resolved: []Seen{}, Unclear: []Seen{}}
	seen := map[Signature]int{}
	var order []Signature
	for _, r := range runs {
		for _, s := range r.Signatures() {
			if seen[s]++; seen[s] == 1 {
				order = append(order, s)
			}
		}
	}
	for _, s := range order {
		e, known := f.Find(s)
		if !known {
			c.New = append(c.New, counted(Entry{ID: s.ID(), Signature: s}, seen[s], runs))
			continue
		}
		c.Ongoing = append(c.Ongoing, counted(e, seen[s], runs))
	}
	if f == nil {
		return c
	}
	for _, e := range f.Accepted {
		of := counted(e, 0, runs)
		switch {
		case seen[e.Signature] > 0 || of.Runs == 0:
		case slices.ContainsFunc(runs, func(r Run) bool { return r.isOf(e) && !r.decided(e.Property) }):
			c.Unclear = append(c.Unclear, of)
		default:
			c.Resolved = append(c.Resolved, of)
		}
	}
	return c
}

func counted(e Entry, n int, runs []Run) Seen {
	s := Seen{Entry: e, Seen: n}
	for _, r := range runs {
		if r.isOf(e) {
			s.Runs++
		}
	}
	s.Rare = n > 0 && s.Runs >= rareRuns && n*rareShare < s.Runs
	return s
}

func (r *Run) isOf(e Entry) bool { return r.Scenario == e.Scenario && r.Lock == e.Lock }

// decided says whether a run had the evidence to see a violation of a property, or of a kind of it, if there was one.
func (r *Run) decided(property string) bool {
	name, kind, _ := strings.Cut(property, "/")
	enough, judged := true, false
	for _, result := range r.Results {
		switch {
		case result.Property == checker.Coverage:
			enough = result.Verdict != checker.Inconclusive
		case result.Property == name:
			v, ok := result.Kinds[kind]
			if !ok {
				v = result.Verdict
			}
			judged = v == checker.Held || v == checker.Violated
		}
	}
	return enough && judged && r.Whole
}
