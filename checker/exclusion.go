package checker

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/locktest/locktest/history"
)

// ServiceOrLibrary is to blame where the history doesn't tell the two apart.
const ServiceOrLibrary Party = "service or client library"

// ruling is what is known of one property of one lock, before locks are summed up.
type ruling struct {
	verdict  Verdict
	kinds    map[string]Verdict
	complete bool
	why      string
	engine   string
	findings []Finding
	more     int // findings that were counted but not put into words
	numbers  map[string]float64
}

func newRuling() *ruling {
	return &ruling{verdict: Held, complete: true, numbers: map[string]float64{}}
}

func (r *ruling) add(f Finding) { r.findings = append(r.findings, f) }

// judgeExclusion sums up, over all locks, whether two ever held one at the same time.
func judgeExclusion(ctx context.Context, v *view) Result {
	var rs []*ruling
	for i := range v.locks {
		if ctx.Err() != nil {
			break
		}
		rs = append(rs, exclusionOf(ctx, v, &v.locks[i]))
	}
	r := sum(rs)
	if r.Verdict != NotApplicable {
		r.Summary = fmt.Sprintf("%s, %s", count(int(r.Numbers["holds"]), "hold"), overlapWords(r.Numbers))
	}
	return r
}

func overlapWords(n map[string]float64) string {
	double, stale := int(n["double_grants"]), int(n["stale_holders"])
	if double+stale == 0 {
		s := "0 overlaps"
		if lost := int(n["lost_and_noticed"]); lost > 0 {
			s += fmt.Sprintf(", %s lost and noticed", grouped(lost))
		}
		return s
	}
	var parts []string
	if double > 0 {
		parts = append(parts, count(double, "double grant"))
	}
	if stale > 0 {
		parts = append(parts, count(stale, "stale holder"))
	}
	return strings.Join(parts, ", ")
}

func exclusionOf(ctx context.Context, v *view, l *lockView) *ruling {
	if why := noExclusion(&l.contract); why != "" {
		return &ruling{verdict: NotApplicable, complete: true, why: why}
	}
	switch l.contract.Expiry {
	case history.Lease, history.Session:
		return leaseExclusion(ctx, v, l)
	}
	return strictExclusion(ctx, v, l)
}

func noExclusion(c *history.Contract) string {
	switch {
	case c.NonExclusive:
		return "the lock claims no exclusion"
	case c.Permits > 1:
		return "a semaphore lets several in; permits judges it"
	case c.Shared:
		return "shared holds may overlap; read-write judges it"
	}
	return ""
}

// sum puts the rulings on single locks together.
func sum(rs []*ruling) Result {
	r := Result{Verdict: NotApplicable, Complete: true, Numbers: map[string]float64{}}
	if len(rs) == 0 {
		r.Verdict, r.Why, r.Summary = Inconclusive, "no lock was used", "no lock was used"
		return r
	}
	verdicts := make([]Verdict, 0, len(rs))
	for _, x := range rs {
		verdicts = append(verdicts, x.verdict)
		r.Complete = r.Complete && x.complete
		r.Engine = cmp.Or(r.Engine, x.engine)
		r.Findings = append(r.Findings, x.findings...)
		r.mergeNumbers(x.numbers)
		r.mergeKinds(x.kinds)
	}
	r.Verdict = Merge(verdicts...)
	r.explain(rs)
	sortFindings(r.Findings)
	r.Count = len(r.Findings)
	for _, x := range rs {
		r.Count += x.more
	}
	return r
}

// joint is how a number of all locks comes from those of single ones, where it isn't their sum: the longest of all is that of
// one lock, and grants are as evenly spread as on the lock where they are least so.
var joint = map[string]func(a, b float64) float64{
	"longest_wait_s": math.Max, "slowest_wakeup_s": math.Max, "most_bypassed": math.Max, "readers_at_once": math.Max, "jain_index": math.Min,
}

func (r *Result) mergeNumbers(numbers map[string]float64) {
	for k, n := range numbers {
		old, seen := r.Numbers[k]
		switch merge := joint[k]; {
		case !seen:
			r.Numbers[k] = n
		case merge != nil:
			r.Numbers[k] = merge(old, n)
		default:
			r.Numbers[k] = old + n
		}
	}
}

func (r *Result) mergeKinds(kinds map[string]Verdict) {
	for k, v := range kinds {
		if r.Kinds == nil {
			r.Kinds = map[string]Verdict{}
		}
		if old, seen := r.Kinds[k]; seen {
			v = Merge(old, v)
		}
		r.Kinds[k] = v
	}
}

// explain takes the reason from the rulings that made the verdict, or else from one that is not complete.
func (r *Result) explain(rs []*ruling) {
	for _, x := range rs {
		if x.verdict == r.Verdict && x.why != "" {
			r.Why = x.why
			break
		}
	}
	for _, x := range rs {
		if r.Why == "" && !x.complete {
			r.Why = x.why
		}
	}
	if r.Verdict == NotApplicable {
		r.Summary = r.Why
	}
}

func sortFindings(fs []Finding) {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(weight(a.Strength), weight(b.Strength)), cmp.Compare(a.At, b.At), cmp.Compare(a.Kind, b.Kind))
	})
}

// weight puts what counts before what is only listed.
func weight(s Strength) int {
	if s == UnderClocks || s == UnderStall {
		return 1
	}
	return 0
}
