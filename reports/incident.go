package reports

import (
	"cmp"
	"encoding/hex"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
)

// Incident is one thing that went wrong: findings of one or more properties about the same grants.
type Incident struct {
	Findings  []checker.Finding
	Of        []string // the property of each finding
	Grants    []int
	Signature string // the same between runs and seeds
	Pattern   string // what the signature stands for

	explained bool   // something is known that may have brought it about
	known     *clues // of its history; nil: not looked for yet
}

// Properties lists what the incident violates, in the order of its findings.
func (i *Incident) Properties() []string {
	var out []string
	for _, p := range i.Of {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

func (i *Incident) start() time.Duration {
	return slices.MinFunc(i.Findings, func(a, b checker.Finding) int { return cmp.Compare(a.At, b.At) }).At
}

// Group is the incidents of one signature, the one that is told first: the earliest whose cause can be shown.
type Group struct {
	Incidents []Incident
	Count     int
}

// Groups gathers the findings of violated properties into incidents and those by signature. The groups come gravest
// first, and among equals the one whose cause can be shown, then the earliest. So are the incidents of each: what comes
// later often only follows from the first.
func Groups(h *history.History, results []checker.Result) []Group {
	incidents := gather(h, results)
	if len(incidents) == 0 {
		return nil
	}
	known := newClues(h)
	for n := range incidents {
		incidents[n].known, incidents[n].explained = known, known.explained(&incidents[n])
	}
	by := map[string]*Group{}
	for _, i := range incidents {
		if by[i.Signature] == nil {
			by[i.Signature] = &Group{}
		}
		g := by[i.Signature]
		g.Incidents = append(g.Incidents, i)
		g.Count++
	}
	var out []Group
	for _, key := range slices.Sorted(maps.Keys(by)) {
		g := by[key]
		slices.SortStableFunc(g.Incidents, func(a, b Incident) int {
			return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(bit(b.explained), bit(a.explained)), cmp.Compare(a.start(), b.start()), cmp.Compare(a.size(), b.size()))
		})
		out = append(out, *g)
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		x, y := &a.Incidents[0], &b.Incidents[0]
		return cmp.Or(cmp.Compare(x.rank(), y.rank()), cmp.Compare(bit(y.explained), bit(x.explained)), cmp.Compare(x.start(), y.start()))
	})
	return out
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// gather joins a finding to an incident about the same grants, or about some of them. Two findings of one kind stay apart.
func gather(h *history.History, results []checker.Result) []Incident {
	var out []Incident
	byGrant := map[int][]int{}
	for _, r := range results {
		if r.Verdict != checker.Violated {
			continue
		}
		for _, f := range r.Findings {
			f.At = moment(h, &f)
			grants := grantsOf(h, &f)
			at := home(out, byGrant, r.Property, f.Kind, grants)
			if at < 0 {
				at = len(out)
				out = append(out, Incident{})
			}
			i := &out[at]
			i.Findings, i.Of = append(i.Findings, f), append(i.Of, r.Property)
			for _, g := range grants {
				if !slices.Contains(i.Grants, g) {
					i.Grants = append(i.Grants, g)
					byGrant[g] = append(byGrant[g], at)
				}
			}
		}
	}
	for n := range out {
		out[n].sign(h)
	}
	return out
}

// home finds the incident that a finding about these grants belongs to; -1: one of its own.
func home(incidents []Incident, byGrant map[int][]int, property, kind string, grants []int) int {
	for _, g := range grants {
		for _, at := range byGrant[g] {
			i := &incidents[at]
			if !i.has(property, kind) && (subset(grants, i.Grants) || subset(i.Grants, grants)) {
				return at
			}
		}
	}
	return -1
}

func (i *Incident) has(property, kind string) bool {
	for n, p := range i.Of {
		if p == property && i.Findings[n].Kind == kind {
			return true
		}
	}
	return false
}

func subset(a, b []int) bool {
	return !slices.ContainsFunc(a, func(g int) bool { return !slices.Contains(b, g) })
}

// moment is when a finding is dated in every report: what an operation did to the resource, at its answer, where the story tells it and
// its lanes draw it. The checker's own times reach from the call to the answer, since it took effect between them.
func moment(h *history.History, f *checker.Finding) time.Duration {
	if f.Resource == "" || h == nil {
		return f.At
	}
	for n, i := range f.Ops {
		if i < 0 || i >= len(h.Ops) || h.Ops[i].Type != history.Invoke || h.Ops[i].Time != f.At {
			continue
		}
		call := &h.Ops[i]
		for _, k := range f.Ops[n+1:] {
			if k >= len(h.Ops) {
				break
			}
			if end := &h.Ops[k]; end.Completes() && end.Client == call.Client && end.Thread == call.Thread && end.Process == call.Process {
				return end.Time
			}
		}
	}
	return f.At
}

func grantsOf(h *history.History, f *checker.Finding) []int {
	out := slices.Clone(f.Grants)
	for _, i := range f.Ops {
		if i >= 0 && i < len(h.Ops) && h.Ops[i].Grant != 0 {
			out = append(out, h.Ops[i].Grant)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (i *Incident) size() int {
	n := 0
	for _, f := range i.Findings {
		n += len(f.Ops)
	}
	return n
}

// rank orders by how grave an incident is: certain faults of the service first, hazards of leases and service levels last.
func (i *Incident) rank() int {
	best := 9
	for n, f := range i.Findings {
		best = min(best, rank(i.Of[n], f))
	}
	return best
}

func rank(property string, f checker.Finding) int {
	soft := 0
	if f.Strength == checker.Hazard || f.Strength == checker.UnderClocks || f.Strength == checker.UnderStall {
		soft = 4
	}
	switch property {
	case checker.MutualExclusion:
		return soft
	case checker.ResourceSafety:
		return soft + 1
	case checker.Fencing, checker.Ownership:
		return soft + 2
	case checker.Coverage:
		return 9
	}
	return 3
}

// sign derives the signature: what stays the same between seeds, without times, ids and tokens. It is that of the gravest
// finding and of the faults meanwhile; what follows from that finding differs from one instance to the next.
func (i *Incident) sign(h *history.History) {
	var faults []string
	first := 0
	for n, f := range i.Findings {
		if rank(i.Of[n], f) < rank(i.Of[first], i.Findings[first]) {
			first = n
		}
		if f.Fault > 0 && f.Fault <= len(h.Header.Faults) {
			faults = append(faults, h.Header.Faults[f.Fault-1].Kind)
		}
	}
	slices.Sort(faults)
	i.Pattern = i.Of[first] + "/" + i.Findings[first].Kind
	if faults = slices.Compact(faults); len(faults) > 0 {
		i.Pattern += ", during " + strings.Join(faults, ", ")
	}
	provider := ""
	if len(h.Header.Locks) > 0 {
		provider = h.Header.Locks[0].Provider
	}
	sum := fnv.New32a()
	sum.Write([]byte(provider + " " + i.Pattern))
	i.Signature = hex.EncodeToString(sum.Sum(nil))
}
