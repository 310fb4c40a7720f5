package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/locktest/locktest/internal/access"
	"github.com/locktest/locktest/runner"
)

// TestReportsKeepSecrets: a password that looks otherwise in each format is in none, in no form of which enough is left.
func TestReportsKeepSecrets(t *testing.T) {
	const value = "hunter\"'<>&+_*[@|`\\%:,/22"
	t.Setenv("SOME_PASSWORD", value)
	a, err := access.Spec{PasswordEnv: "SOME_PASSWORD"}.Open()
	if err != nil {
		t.Fatal(err)
	}
	r := a.Redactor()
	o := staleWrite(nil)
	o.Cluster, o.Kind, o.KindWhy, o.Interrupted, o.History.Truncated = "redis at "+value, "embedded", value, value, "cut off at "+value
	for i := range o.History.Ops {
		o.History.Ops[i].Error, o.History.Ops[i].Text = "AUTH "+value+" failed", "auth "+value
	}
	for i := range o.Results {
		o.Results[i].Summary, o.Results[i].Why = "with "+value, value
		for k := range o.Results[i].Findings {
			o.Results[i].Findings[k].Message = "said " + value
		}
	}
	o.Conclusion = runner.Conclude(o.Scenario, o.Results, o.Metrics)
	b := &Batch{Outcomes: []*runner.Outcome{o}, Exit: o.Conclusion.Exit}
	for name, write := range map[string]BatchReporter{
		"text": Each(Text(Style{Width: 100})), "html": Gravest(HTML(HTMLOptions{Redact: r.Text, Folder: Folder{Environment: value, Scenario: value, Logs: []Log{{"n1.log", value}}}})), "json": Gravest(JSON),
		"junit": JUnit, "markdown": Markdown, "github": GitHub(func(string) string { return "" }), "perfetto": Gravest(Perfetto),
	} {
		var w bytes.Buffer
		to := r.Writer(&w)
		if name == "html" {
			to = &w
		}
		if err := write(to, b); err != nil {
			t.Fatal(err)
		}
		if text := w.String(); strings.Contains(text, "hunter") || !strings.Contains(text, "***") {
			at := max(strings.Index(text, "hunter"), 0)
			t.Errorf("%s has the password: %.80q", name, text[at:])
		}
	}
}
