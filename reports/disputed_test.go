package reports

import (
	"errors"
	"strings"
	"testing"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/runner"
)

func disputedRun(more ...error) *runner.Outcome {
	o := cleanRun()
	o.CrossCheck[0].Answer, o.CrossCheck[0].Agrees = "illegal", false
	o.Err = errors.Join(append(more, &runner.DisagreementError{About: runner.Disputed(o.CrossCheck), History: "runs/x/history.jsonl"})...)
	return o
}

// A run about which the engines disagree is told as such in every form, and none says that it could not run.
func TestDisputedRun(t *testing.T) {
	b := &Batch{Outcomes: []*runner.Outcome{disputedRun()}, Exit: 70}
	for name, c := range map[string]struct{ text, want, not string }{
		"JUnit":    {batched(t, JUnit, b), `<error type="is disputed" message="the two engines disagree about orders (mutex): this is a bug in locktest"`, `errors="0"`},
		"Markdown": {batched(t, Markdown, b), "✗ locktest: 1 is disputed", "COULD NOT RUN"},
		"GitHub":   {batched(t, GitHub(func(string) string { return "" }), b), "is disputed::the two engines disagree about orders (mutex)", "could not run"},
		"screen":   {batched(t, Each(Text(Style{Width: 100})), b), "Porcupine disagrees about orders (mutex): it says illegal, the sweep says legal.", "did not go to its end"},
		"page":     {batched(t, Each(HTML(HTMLOptions{})), b), "Porcupine disagrees about orders (mutex): it says illegal, the sweep says legal.", "This is evidence, not proof."},
		"JSON":     {batched(t, Each(JSON), b), `"code": "LT901"`, `"met": true`},
	} {
		if !strings.Contains(strings.Join(strings.Fields(c.text), " "), c.want) || strings.Contains(c.text, c.not) {
			t.Errorf("%s: without %q or with %q:\n%.3000s", name, c.want, c.not, c.text)
		}
	}
	rates := (&Batch{Outcomes: []*runner.Outcome{disputedRun(), cleanRun()}}).Series()[0].Rates()
	for _, r := range rates {
		if r.Runs != 2 || r.Decided != 1 {
			t.Errorf("%s: %d of %d runs decided", r.Property, r.Decided, r.Runs)
		}
	}
	if len(rates) == 0 || rates[0].Property != checker.MutualExclusion {
		t.Errorf("%+v", rates)
	}
	text := batched(t, Each(Text(Style{Width: 100})), &Batch{Outcomes: []*runner.Outcome{disputedRun(errors.New("n1 died"))}})
	if !strings.Contains(text, "The run did not go to its end: n1 died.\n") || strings.Count(text, "disagree") != 1 {
		t.Error(text)
	}
}
