package reports

import (
	"slices"
	"strings"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/runner"
)

// properties lists each verdict with its evidence.
func (s *screen) properties() {
	const name, verdict = 18, 14
	var special, calm []string
	for _, r := range s.o.Results {
		if r.Verdict == checker.NotApplicable && specialized(r.Property) {
			special = append(special, plain(r.Property))
			continue
		}
		if s.storied() && (r.Verdict == checker.Held || r.Verdict == checker.NotApplicable) {
			if r.Verdict == checker.Held {
				calm = append(calm, plain(r.Property))
			}
			continue
		}
		first := "  " + pad(plain(r.Property), name)
		text := clean(r.Summary)
		if r.Why != "" && !strings.Contains(text, clean(r.Why)) && !s.told(r.Why) {
			text = strings.TrimPrefix(text+"; "+clean(r.Why), "; ")
		}
		shown := shownVerdict(s.o.Conclusion, r)
		indent := strings.Repeat(" ", 2+name+verdict)
		for i, l := range wrap(text, s.style.width()-len(indent)) {
			if i > 0 {
				s.line(indent + l)
				continue
			}
			s.line(first + s.paint(verdictColor(r.Verdict, shown), shown) + strings.Repeat(" ", max(1, verdict-len(shown))) + l)
		}
		if r.Verdict == checker.Violated && s.storied() {
			s.kinds(r)
		}
	}
	if len(calm) > 0 {
		s.wrapped("  "+pad("held", name), strings.Join(calm, ", "))
	}
	if len(special) > 0 && !s.storied() {
		s.wrapped("  "+pad("not applicable", name), strings.Join(special, ", "))
	}
	if len(s.o.Results) > 0 {
		s.blank()
	}
}

// specialized says whether a property is one of few locks only; where such ones don't apply, they share a line.
func specialized(property string) bool {
	switch property {
	case checker.Permits, checker.ReadWrite, checker.Reentrancy, checker.Fairness, checker.Hygiene:
		return true
	}
	return false
}

// told says whether a reason stands above, as a condition.
func (s *screen) told(why string) bool {
	return slices.ContainsFunc(s.o.Conclusion.Conditions, func(c runner.Condition) bool { return c.Exit != runner.ExitViolated && c.Text == why })
}

// shownVerdict is the verdict's word; of a violation that decides nothing, that it was expected or is accepted.
func shownVerdict(c runner.Conclusion, r checker.Result) string {
	about := func(c runner.Condition) bool {
		id, _, _ := strings.Cut(c.Property, "/")
		return id == r.Property
	}
	switch {
	case r.Verdict != checker.Violated || slices.ContainsFunc(c.Conditions, about):
		return word(r.Verdict)
	case slices.ContainsFunc(c.Known, about):
		return "known"
	case slices.ContainsFunc(c.Expected, about):
		return "as expected"
	case slices.ContainsFunc(c.Accepted, about):
		return "accepted"
	}
	return word(r.Verdict)
}

func verdictColor(v checker.Verdict, shown string) string {
	switch {
	case v == checker.Held:
		return colorGood
	case v == checker.Inconclusive:
		return colorDoubt
	case shown == "VIOLATED":
		return colorBad
	}
	return ""
}
