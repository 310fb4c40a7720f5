package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/locktest/locktest/runner"
)

// annotations is how many GitHub is given: it shows ten of a step, and hides the rest without a word.
const annotations = 5

// GitHub returns the reporter of annotations, as GitHub's runners read them from a log: at the line of the fault that was
// active, else at that of the expectation, else at the file. place turns a scenario's file into the path in the
// repository; empty: it isn't in it.
func GitHub(place func(file string) string) BatchReporter {
	return func(w io.Writer, b *Batch) error {
		var lines []string
		for _, s := range b.Series() {
			seen := map[string]bool{}
			for _, o := range s.Outcomes {
				for _, c := range o.Conclusion.Conditions {
					if key := c.Name + " " + c.Property; !seen[key] && !b.passes(c) {
						seen[key] = true
						lines = append(lines, annotation(&s, o, c, place(s.File)))
					}
				}
				if o.Err != nil && !seen["err"] {
					seen["err"] = true
					lines = append(lines, command("error", place(s.File), 0, s.Name+" "+failure(o), Explain(o.Err).Message))
				}
			}
		}
		if left := len(lines) - annotations; left > 0 {
			lines = append(lines[:annotations-1], command("error", "", 0, "locktest", fmt.Sprintf("%d more are not shown here", left+1)))
		}
		_, err := io.WriteString(w, strings.Join(lines, ""))
		return err
	}
}

func annotation(s *Series, o *runner.Outcome, c runner.Condition, file string) string {
	level := "error"
	if c.Exit == runner.ExitInconclusive {
		level = "warning"
	}
	return command(level, file, lineOf(o, c), fmt.Sprintf("%s %s, %s", plain(c.Property), c.Name, s.Lock), c.Text)
}

// lineOf is the line of the scenario that a condition is about; 0: none.
func lineOf(o *runner.Outcome, c runner.Condition) int {
	if i := incidentOf(o, c); i != nil {
		for _, f := range i.Findings {
			if n := f.Fault; n > 0 && n <= len(o.History.Header.Faults) && o.History.Header.Faults[n-1].Line > 0 {
				return o.History.Header.Faults[n-1].Line
			}
		}
	}
	if o.Scenario == nil {
		return 0
	}
	for _, name := range []string{c.Property, propertyOf(c)} {
		if e, ok := o.Scenario.Expect[name]; ok && e.Pos.Line > 0 {
			return e.Pos.Line
		}
	}
	for _, t := range o.Scenario.Thresholds {
		if t.Metric == c.Property {
			return t.Pos.Line
		}
	}
	return 0
}

// command writes one workflow command.
func command(level, file string, line int, title, text string) string {
	var fields []string
	if file != "" {
		fields = append(fields, "file="+escapeField(file), fmt.Sprintf("line=%d", max(line, 1)))
	}
	fields = append(fields, "title="+escapeField(shortened(title, 200)))
	return "::" + level + " " + strings.Join(fields, ",") + "::" + escapeText(shortened(text, 1000)) + "\n"
}

func escapeText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeField(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeText(s))
}
