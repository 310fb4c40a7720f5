package checker

import (
	"context"

	"github.com/locktest/locktest/history"
)

// All returns a checker for each property, in the order in which reports list them.
func All() []Checker {
	return []Checker{
		&property{MutualExclusion, judgeExclusion},
		&property{ResourceSafety, judgeResources},
		&property{Fencing, judgeFencing},
		&property{Ownership, judgeOwnership},
		&property{Permits, judgePermits},
		&property{ReadWrite, judgeReadWrite},
		&property{Reentrancy, judgeReentrancy},
		&property{Liveness, judgeLiveness},
		&property{Fairness, judgeFairness},
		&property{Hygiene, judgeHygiene},
		&property{Availability, judgeAvailability},
		&property{Coverage, judgeCoverage},
	}
}

// For returns the checker of a property; nil where there is none.
func For(name string) Checker {
	for _, c := range All() {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

// property is a checker that judges a view.
type property struct {
	name  string
	judge func(ctx context.Context, v *view) Result
}

// Name is the property's id.
func (p *property) Name() string { return p.name }

// Check judges h. Its error says that h breaks the rules of recording, and where.
func (p *property) Check(ctx context.Context, h *history.History) (Result, error) {
	v, err := newView(h)
	if err != nil {
		return Result{Property: p.name}, err
	}
	r := settle(ctx, p.see(ctx, v))
	r.Count = max(r.Count, len(r.Findings))
	return r, nil
}

func (p *property) see(ctx context.Context, v *view) Result {
	r := p.judge(ctx, v)
	if wide := v.wide(); wide != nil && r.Verdict == Violated {
		r = heedClocks(r, p.judge(ctx, wide), v.header.ClockError)
	}
	r.Property = p.name
	return r
}
