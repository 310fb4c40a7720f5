package runner

import (
	"slices"
	"testing"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/scenarios"
)

func TestConclusionWords(t *testing.T) {
	stale := checker.Result{
		Property: checker.MutualExclusion, Verdict: checker.Violated,
		Kinds:    map[string]checker.Verdict{checker.DoubleGrant: checker.Held, checker.StaleHolder: checker.Violated},
		Findings: []checker.Finding{{Kind: checker.StaleHolder, Message: "c1 went on."}},
	}
	fence := checker.Result{Property: checker.Fencing, Verdict: checker.Violated, Findings: []checker.Finding{{Kind: checker.TokenOrder, Message: "5 after 6."}}}
	accepts := map[string]scenarios.Expectation{"mutual-exclusion/stale-holder": {Verdict: "any"}}
	wants := map[string]scenarios.Expectation{"mutual-exclusion/stale-holder": {Verdict: "any"}, "fencing": {Verdict: "violated", Because: "the counter restarts"}}
	for name, c := range map[string]struct {
		expect  map[string]scenarios.Expectation
		results []checker.Result
		word    string
		exit    int
	}{
		"nothing found":                          {nil, []checker.Result{{Property: checker.Fencing, Verdict: checker.Held}}, WordNone, ExitOK},
		"a hazard that nobody accepted":          {nil, []checker.Result{stale}, WordViolated, ExitViolated},
		"an accepted hazard alone":               {accepts, []checker.Result{stale}, WordAccepted, ExitOK},
		"an accepted hazard that didn't come":    {accepts, []checker.Result{{Property: checker.MutualExclusion, Verdict: checker.Held}}, WordNone, ExitOK},
		"an accepted hazard, and a violation":    {accepts, []checker.Result{stale, fence}, WordViolated, ExitViolated},
		"an accepted hazard, and an expected":    {wants, []checker.Result{stale, fence}, WordAsExpected, ExitOK},
		"an accepted hazard, and no evidence":    {accepts, []checker.Result{stale, {Property: checker.Coverage}}, WordInconclusive, ExitInconclusive},
		"an expected violation that didn't come": {wants, []checker.Result{stale, {Property: checker.Fencing, Verdict: checker.Held}}, WordExpectation, ExitExpectation},
	} {
		t.Run(name, func(t *testing.T) {
			got := Conclude(&scenarios.Scenario{Expect: c.expect}, c.results, Metrics{})
			if got.Word != c.word || got.Exit != c.exit {
				t.Errorf("%s, exit %d; want %s, exit %d", got.Word, got.Exit, c.word, c.exit)
			}
		})
	}
}

// A kind whose findings were not kept is not told by the summary, which counts all kinds.
func TestConditionOfOneKind(t *testing.T) {
	both := checker.Result{
		Property: checker.MutualExclusion, Verdict: checker.Violated, Summary: "300 holds, 265 double grants, 1 stale holder",
		Kinds:    map[string]checker.Verdict{checker.DoubleGrant: checker.Violated, checker.StaleHolder: checker.Violated},
		Findings: []checker.Finding{{Kind: checker.DoubleGrant, Message: "Two were granted it."}},
	}
	got := Conclude(&scenarios.Scenario{Expect: map[string]scenarios.Expectation{"mutual-exclusion/stale-holder": {Verdict: "any"}}}, []checker.Result{both}, Metrics{})
	if len(got.Accepted) != 1 || got.Accepted[0].Text != "stale holder: counted, but not kept one by one" {
		t.Errorf("%+v", got.Accepted)
	}
}

// A kind is judged where it is named, also where the property doesn't tell kinds apart since it doesn't apply, or nothing decided it.
func TestKindOfAPropertyWithoutKinds(t *testing.T) {
	const kind = "mutual-exclusion/stale-holder"
	violated, held := scenarios.Expectation{Verdict: "violated", Because: "it is known"}, scenarios.Expectation{Verdict: "held"}
	result := func(v checker.Verdict) checker.Result {
		return checker.Result{Property: checker.MutualExclusion, Verdict: v, Why: "why"}
	}
	for name, c := range map[string]struct {
		expect map[string]scenarios.Expectation
		result checker.Result
		word   string
		exit   int
		about  []string
	}{
		"violated is expected, and it doesn't apply":   {map[string]scenarios.Expectation{kind: violated}, result(checker.NotApplicable), WordExpectation, ExitExpectation, []string{kind}},
		"violated is expected, and nothing is known":   {map[string]scenarios.Expectation{kind: violated}, result(checker.Inconclusive), WordInconclusive, ExitInconclusive, []string{checker.MutualExclusion, kind}},
		"violated is expected, and it is held":         {map[string]scenarios.Expectation{kind: violated}, result(checker.Held), WordExpectation, ExitExpectation, []string{kind}},
		"any is, and it doesn't apply":                 {map[string]scenarios.Expectation{kind: {Verdict: "any"}}, result(checker.NotApplicable), WordNone, ExitOK, nil},
		"any is, and the property is held":             {map[string]scenarios.Expectation{kind: {Verdict: "any"}}, result(checker.Held), WordNone, ExitOK, nil},
		"any of one kind is, and the property is not":  {map[string]scenarios.Expectation{kind: {Verdict: "any"}}, result(checker.Violated), WordViolated, ExitViolated, []string{checker.MutualExclusion}},
		"any of one kind is, and nothing is known":     {map[string]scenarios.Expectation{kind: {Verdict: "any"}}, result(checker.Inconclusive), WordInconclusive, ExitInconclusive, []string{checker.MutualExclusion}},
		"held is, and it doesn't apply":                {map[string]scenarios.Expectation{kind: held}, result(checker.NotApplicable), WordNone, ExitOK, nil},
		"two kinds, and it doesn't apply":              {map[string]scenarios.Expectation{kind: violated, "mutual-exclusion/double-grant": violated}, result(checker.NotApplicable), WordExpectation, ExitExpectation, []string{"mutual-exclusion/double-grant", kind}},
		"the property is, too, and it doesn't apply":   {map[string]scenarios.Expectation{kind: {Verdict: "any"}, checker.MutualExclusion: violated}, result(checker.NotApplicable), WordExpectation, ExitExpectation, []string{checker.MutualExclusion}},
		"the property is, any kind is, and it is held": {map[string]scenarios.Expectation{kind: violated, checker.MutualExclusion: {Verdict: "any"}}, result(checker.Held), WordExpectation, ExitExpectation, []string{kind}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Conclude(&scenarios.Scenario{Expect: c.expect}, []checker.Result{c.result}, Metrics{})
			var about []string
			for _, m := range got.Conditions {
				about = append(about, m.Property)
			}
			if got.Word != c.word || got.Exit != c.exit || !slices.Equal(about, c.about) {
				t.Errorf("%s, exit %d, about %v; want %s, exit %d, about %v", got.Word, got.Exit, about, c.word, c.exit, c.about)
			}
		})
	}
}

// Bounds on availability and throughput are met from the bound on; without an attempt nothing was tested.
func TestBounds(t *testing.T) {
	for name, c := range map[string]struct {
		got      float64
		attempts int
		exit     int
	}{
		"below":      {0.94, 10, ExitExpectation},
		"at":         {0.95, 10, ExitOK},
		"above":      {0.96, 10, ExitOK},
		"no attempt": {1, 0, ExitInconclusive},
	} {
		during := func(p Part) Metrics {
			return Metrics{Faults: p, Calm: Part{Attempts: 1, Availability: 1, Throughput: 1}, All: Part{Attempts: 1}}
		}
		for metric, m := range map[string]Metrics{
			"availability": during(Part{Attempts: c.attempts, Availability: c.got}),
			"throughput":   during(Part{Attempts: c.attempts, Throughput: c.got}),
		} {
			s := &scenarios.Scenario{Thresholds: []scenarios.Threshold{{Metric: metric, Min: 0.95, During: "faults"}}}
			if got := Conclude(s, nil, m); got.Exit != c.exit {
				t.Errorf("threshold of %s, %s: exit %d, want %d: %+v", metric, name, got.Exit, c.exit, got.Conditions)
			}
		}
		s := &scenarios.Scenario{Expect: map[string]scenarios.Expectation{checker.Availability: {Verdict: "held", Min: 0.95, HasMin: true, During: "faults"}}}
		judged := []checker.Result{{Property: checker.Availability, Verdict: checker.Held}}
		if got := Conclude(s, judged, during(Part{Attempts: c.attempts, Availability: c.got})); got.Exit != c.exit {
			t.Errorf("expected availability, %s: exit %d, want %d: %+v", name, got.Exit, c.exit, got.Conditions)
		}
	}
}
