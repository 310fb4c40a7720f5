package runner

import (
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
