package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/internal/access"
	"github.com/locktest/locktest/runner"
)

// Limits of a Markdown report: GitHub drops a summary above 1 MiB as a whole. With them it stays below 200 KB.
const (
	markdownRows    = 100
	markdownStories = 5
	markdownLines   = 80  // of a story
	markdownCell    = 300 // characters
)

// Markdown writes a summary for people who look at a build: a table of what was run, and the first stories.
func Markdown(w io.Writer, b *Batch) error {
	m := &markdown{}
	series := b.Series()
	m.printf("### %s\n\n| scenario | lock | verdict | runs | evidence |\n| --- | --- | --- | --- | --- |\n", b.headline())
	for i, s := range series {
		if i == markdownRows {
			m.printf("\n%s more are not shown.\n", count(len(series)-i, "row"))
			break
		}
		m.printf("| %s | %s | %s | %d | %s |\n", cell(s.Name), cell(s.Lock), b.verdict(&s), len(s.Outcomes), cell(s.evidence()))
	}
	m.rates(b.Rates)
	m.baseline(b.Baseline)
	m.stories(b, series)
	m.again(b)
	_, err := io.WriteString(w, m.String())
	return err
}

type markdown struct{ strings.Builder }

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(m, format, args...) }

// headline counts the series by their end.
func (b *Batch) headline() string {
	var words []string
	n := map[string]int{}
	for _, s := range b.Series() {
		w := s.word()
		if n[w]++; n[w] == 1 {
			words = append(words, w)
		}
	}
	mark := "✓"
	if b.Exit != runner.ExitOK {
		mark = "✗"
	}
	for i, w := range words {
		words[i] = fmt.Sprintf("%d %s", n[w], strings.ToLower(w))
	}
	return strings.TrimSpace(mark + " locktest: " + strings.Join(words, ", "))
}

// word is the gravest end of the runs of a series.
func (s *Series) word() string {
	o := (&Batch{Outcomes: s.Outcomes}).gravest()
	if o.Err != nil && (o.Conclusion.Exit != runner.ExitViolated || disputed(o)) {
		return strings.ToUpper(failure(o))
	}
	return o.Conclusion.Word
}

// verdict is the word with what decides it.
func (b *Batch) verdict(s *Series) string {
	var names []string
	for _, o := range s.Outcomes {
		for _, c := range o.Conclusion.Conditions {
			if !b.passes(c) {
				names = once(names, plain(c.Property))
			}
		}
	}
	if len(names) == 0 {
		return "**" + cell(s.word()) + "**"
	}
	return "**" + cell(s.word()) + "**: " + cell(strings.Join(names, ", "))
}

// evidence is what coverage says of the gravest run.
func (s *Series) evidence() string {
	o := (&Batch{Outcomes: s.Outcomes}).gravest()
	if o.Err != nil && (len(o.Results) == 0 || disputed(o)) {
		return Explain(o.Err).Message
	}
	for _, r := range o.Results {
		if r.Property == checker.Coverage {
			return strings.TrimPrefix(r.Summary, "; ")
		}
	}
	return ""
}

// stories tells the first violations, one of each kind of a series.
func (m *markdown) stories(b *Batch, series []Series) {
	told, left := 0, 0
	for _, s := range series {
		seen := map[string]bool{}
		for _, o := range s.Outcomes {
			for _, c := range o.Conclusion.Conditions {
				i := incidentOf(o, c)
				if i == nil || seen[i.Signature] || b.passes(c) {
					continue
				}
				seen[i.Signature] = true
				if told == markdownStories {
					left++
					continue
				}
				told++
				m.story(&s, o, c, told == 1)
			}
		}
	}
	if left > 0 {
		m.printf("\n%s more, of other kinds or runs: see the runs' folders.\n", count(left, "violation"))
	}
}

func (m *markdown) story(s *Series, o *runner.Outcome, c runner.Condition, open bool) {
	attribute := ""
	if open {
		attribute = " open"
	}
	m.printf("\n<details%s><summary>%s with %s, run %s: %s</summary>\n\n", attribute, cell(s.Name), cell(s.Lock), cell(o.Run), cell(c.Text))
	text := storyOf(o, c, markdownLines)
	for _, l := range splitLines(text) {
		// Four blanks make it code, in which nothing has a meaning and no fence has to end.
		m.printf("    %s\n", shortened(strings.TrimPrefix(l, "  "), markdownCell))
	}
	m.printf("\n</details>\n")
}

// rates lists those of properties that were violated.
func (m *markdown) rates(rates []Rate) {
	n := 0
	for _, r := range rates {
		if r.Violated == 0 && r.Property != checker.MutualExclusion {
			continue
		}
		if n++; n > markdownRows/4 {
			break
		}
		m.printf("\n- %s with %s: %s %s", cell(r.Scenario), cell(r.Lock), cell(plain(r.Property)), cell(r.String()))
	}
	if n > 0 {
		m.printf("\n")
	}
}

// again is how to run the gravest once more.
func (m *markdown) again(b *Batch) {
	if o := b.gravest(); o != nil && o.Again != "" && b.Exit != runner.ExitOK {
		m.printf("\nAgain: `%s`\n", strings.ReplaceAll(shortened(o.Again, markdownCell), "`", "'"))
	}
}

// cell makes text of one cell: no markup of its own, nobody mentioned.
func cell(text string) string {
	return access.MarkdownEscaper().Replace(shortened(text, markdownCell))
}
