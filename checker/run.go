package checker

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/locktest/locktest/history"
)

// Options bound what a result carries.
type Options struct {
	MaxFindings    int // kept of each property, the earliest first; 0: DefaultFindings
	Configurations int // of the general engine at a time; 0: DefaultConfigurations
	Memory         int // bytes that judging may take beyond the history, by its own count; 0: no limit
}

// DefaultConfigurations is how many configurations the general engine keeps at a time before it gives up.
const DefaultConfigurations = 65_536

// DefaultFindings is how many findings of a property are kept; Result.Count has the number of all.
const DefaultFindings = 50

// Run judges h by each checker and returns the results in the order of checkers. It always returns one for each: a
// checker that fails or panics is inconclusive and says why, and leaves the other verdicts as they are. So is every
// property of a history that breaks the rules of recording.
func Run(ctx context.Context, h *history.History, checkers []Checker, opt Options) []Result {
	v, err := opt.view(h)
	results := make([]Result, len(checkers))
	var wg sync.WaitGroup
	for i, c := range checkers {
		wg.Go(func() {
			results[i] = judge(ctx, h, v, err, c)
			results[i].trim(opt)
		})
	}
	wg.Wait()
	if err == nil {
		v.effects(results)
	}
	return results
}

// view makes what the checkers look at, unless that alone would take too much memory.
func (opt Options) view(h *history.History) (*view, error) {
	if need := viewBytes(h); opt.Memory > 0 && need > opt.Memory {
		return nil, fmt.Errorf("judging needs about %d MiB of memory beyond the history, over the limit of %d MiB", need>>20, opt.Memory>>20)
	}
	v, err := newView(h)
	if err == nil {
		v.most = opt.MaxFindings
		v.budget.bytes = opt.Memory
		v.budget.configs = cmp.Or(opt.Configurations, v.budget.configs)
	}
	return v, err
}

// seer is a checker that can use a view made for all of them.
type seer interface {
	see(ctx context.Context, v *view) Result
}

func judge(ctx context.Context, h *history.History, v *view, broken error, c Checker) (r Result) {
	defer func() {
		if p := recover(); p != nil {
			r = undecided(c.Name(), fmt.Sprintf("the checker panicked: %v, at %s", p, panicPlace()))
		}
	}()
	if broken != nil {
		return undecided(c.Name(), broken.Error())
	}
	if s, ok := c.(seer); ok {
		return settle(ctx, s.see(ctx, v))
	}
	r, err := c.Check(ctx, h)
	if err != nil {
		return undecided(c.Name(), err.Error())
	}
	return r
}

// settle makes a result that was cut short undecided, and keeps what it found: that is certain whatever was not looked at.
func settle(ctx context.Context, r Result) Result {
	if ctx.Err() == nil {
		return r
	}
	r.Complete = false
	if r.Verdict != Violated {
		r.Verdict, r.Why = Inconclusive, "checking was stopped: "+context.Cause(ctx).Error()
	}
	return r
}

func undecided(property, why string) Result {
	return Result{Property: property, Verdict: Inconclusive, Why: why, Summary: why}
}

// panicPlace finds the file and line that panicked in the stack.
func panicPlace() string {
	_, after, _ := strings.Cut(string(debug.Stack()), "panic(")
	for _, line := range strings.Split(after, "\n")[2:] {
		if strings.HasPrefix(line, "\t") && !strings.Contains(line, "/runtime/") {
			return strings.TrimSpace(line)
		}
	}
	return "an unknown place"
}

func (r *Result) trim(opt Options) {
	limit := opt.MaxFindings
	if limit == 0 {
		limit = DefaultFindings
	}
	r.Count = max(r.Count, len(r.Findings))
	if len(r.Findings) > limit {
		r.Findings = r.Findings[:limit:limit]
	}
}
