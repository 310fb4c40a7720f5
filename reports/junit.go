package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/runner"
)

// Limits of a JUnit file: readers refuse large ones, and people don't read on.
const (
	junitStoryLines = 60
	junitOutput     = 64 << 10 // bytes of one system-out
	junitMessage    = 500      // characters of one message
)

// JUnit writes one test suite for each scenario and lock, and one test case in it for each property and threshold, however
// often it was run: readers keep only the first of two cases with one name. What is violated or missed is a failure, what
// is inconclusive or could not run is an error, what doesn't apply is skipped.
func JUnit(w io.Writer, b *Batch) error {
	all := junitSuites{Name: "locktest"}
	seen := map[string]int{}
	for _, s := range b.Series() {
		suite := b.junitSuite(&s)
		if seen[suite.Name]++; seen[suite.Name] > 1 {
			suite.Name = fmt.Sprintf("%s (%d)", suite.Name, seen[suite.Name])
		}
		all.Suites = append(all.Suites, suite)
		all.Tests, all.Failures, all.Errors = all.Tests+suite.Tests, all.Failures+suite.Failures, all.Errors+suite.Errors
		all.total += suite.total
	}
	all.Time = junitTime(all.total)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	if err := e.Encode(all); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`

	total time.Duration
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Timestamp  string          `xml:"timestamp,attr,omitempty"`
	File       string          `xml:"file,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`

	total time.Duration
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string       `xml:"classname,attr"`
	Name    string       `xml:"name,attr"`
	Time    string       `xml:"time,attr"`
	Skipped *junitReason `xml:"skipped"`
	Error   *junitReason `xml:"error"`
	Failure *junitReason `xml:"failure"`
	Output  string       `xml:"system-out,omitempty"`
}

type junitReason struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// junitTime is seconds as readers of JUnit take them.
func junitTime(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

func (b *Batch) junitSuite(s *Series) junitSuite {
	suite := junitSuite{Name: strings.TrimSpace(s.Name + " [" + s.Lock + "]"), File: s.File}
	for i, o := range s.Outcomes {
		suite.total += o.Elapsed
		if i == 0 && !o.Began.IsZero() {
			suite.Timestamp = o.Began.UTC().Format("2006-01-02T15:04:05")
		}
	}
	first := s.Outcomes[0]
	suite.Properties = []junitProperty{{"seed", fmt.Sprint(first.Seed)}, {"runs", fmt.Sprint(len(s.Outcomes))}}
	if worst := (&Batch{Outcomes: s.Outcomes}).gravest(); worst.Run != "" {
		suite.Properties = append(suite.Properties, junitProperty{"run", worst.Run}, junitProperty{"again", clean(worst.Again)})
	}
	for _, name := range s.properties() {
		suite.Cases = append(suite.Cases, b.junitCase(s, name))
	}
	if c := s.junitRun(); c != nil || len(suite.Cases) == 0 {
		if c == nil {
			c = &junitCase{Name: "run", Error: &junitReason{Type: "inconclusive", Message: "nothing was judged"}}
		}
		suite.Cases = append(suite.Cases, *c)
	}
	for i := range suite.Cases {
		c := &suite.Cases[i]
		c.Class, c.Time = strings.ReplaceAll(s.Name, ".", "-")+"."+strings.ReplaceAll(s.Lock, ".", "-"), junitTime(suite.total)
		suite.Tests++
		switch {
		case c.Failure != nil:
			suite.Failures++
		case c.Error != nil:
			suite.Errors++
		case c.Skipped != nil:
			suite.Skipped++
		}
	}
	suite.Time = junitTime(suite.total)
	return suite
}

// junitRun is the case of runs that could not be carried out, or about which the engines disagree; nil: there was none.
func (s *Series) junitRun() *junitCase {
	for _, o := range s.Outcomes {
		if o.Err != nil {
			return &junitCase{Name: "run", Error: &junitReason{Type: failure(o), Message: shortened(Explain(o.Err).Message, junitMessage), Text: clean(o.Err.Error())}}
		}
	}
	return nil
}

// junitCase is what became of one property, over all runs of a series.
func (b *Batch) junitCase(s *Series, name string) junitCase {
	c := junitCase{Name: displayed(name)}
	var failed, doubtful, passed []runner.Condition
	var first *runner.Outcome
	runs := 0
	for _, o := range s.Outcomes {
		met := about(o.Conclusion.Conditions, name)
		for _, m := range met {
			switch {
			case b.passes(m):
				passed = append(passed, m)
			case m.Exit == runner.ExitInconclusive:
				doubtful = append(doubtful, m)
			default:
				failed = append(failed, m)
				if first == nil {
					first = o
				}
			}
		}
		if len(met) > 0 {
			runs++
		}
	}
	suffix := ""
	if len(s.Outcomes) > 1 {
		suffix = fmt.Sprintf(" (%d of %d runs)", runs, len(s.Outcomes))
	}
	switch {
	case len(failed) > 0:
		c.Failure = &junitReason{Type: failed[0].Name, Message: shortened(failed[0].Text, junitMessage) + suffix, Text: "\n" + storyOf(first, failed[0], junitStoryLines)}
	case len(doubtful) > 0:
		c.Error = &junitReason{Type: "inconclusive", Message: shortened(doubtful[0].Text, junitMessage) + suffix}
	case len(passed) > 0:
		c.Skipped = &junitReason{Message: shortened(fmt.Sprintf("%s, which --fail-on lets pass: %s", passed[0].Name, passed[0].Text), junitMessage) + suffix}
	default:
		c.Skipped, c.Output = s.junitCalm(name)
	}
	return c
}

// junitCalm is a property that fails nothing: held, expected, accepted, or not applicable in every run.
func (s *Series) junitCalm(name string) (*junitReason, string) {
	var lines []string
	why, applies := "", false
	for _, o := range s.Outcomes {
		for _, r := range o.Results {
			if r.Property != name {
				continue
			}
			applies = applies || r.Verdict != checker.NotApplicable
			if why == "" {
				why = r.Why
			}
			lines = append(lines, shownVerdict(o.Conclusion, r)+": "+clean(r.Summary))
		}
		for _, c := range about(o.Conclusion.Expected, name) {
			lines, applies = append(lines, "violated, as expected: "+clean(c.Text)), true
		}
		for _, c := range about(o.Conclusion.Known, name) {
			lines, applies = append(lines, "violated, and known by the baseline ("+clean(c.Because)+"): "+clean(c.Text)), true
		}
		for _, c := range about(o.Conclusion.Accepted, name) {
			lines, applies = append(lines, "violated, and accepted by the scenario: "+clean(c.Text)), true
		}
	}
	if !applies && len(lines) > 0 {
		return &junitReason{Message: shortened(clean(why), junitMessage)}, ""
	}
	text := strings.Join(lines, "\n")
	for len(text) > junitOutput {
		_, text, _ = strings.Cut(text, "\n")
	}
	return nil, text
}

// storyOf is the story of the incident that a condition is about, without its further lines beyond the limit.
func storyOf(o *runner.Outcome, c runner.Condition, lines int) string {
	i := incidentOf(o, c)
	if i == nil {
		return clean(c.Text) + "\n"
	}
	var b strings.Builder
	if err := NewStory(o.History, *i, Style{Width: 80}).Write(&b); err != nil {
		return clean(c.Text) + "\n"
	}
	all := splitLines(b.String())
	if len(all) > lines {
		all = append(all[:lines-1], fmt.Sprintf("  (%d lines left out)", len(all)-lines+1))
	}
	return strings.Join(all, "\n") + "\n"
}

// incidentOf is the gravest incident that a condition is about; nil: there is none.
func incidentOf(o *runner.Outcome, c runner.Condition) *Incident {
	if o == nil || o.History == nil {
		return nil
	}
	_, kind, _ := strings.Cut(c.Property, "/")
	for _, g := range Groups(o.History, o.Results) {
		i := &g.Incidents[0]
		for n, p := range i.Of {
			if p == propertyOf(c) && (kind == "" || i.Findings[n].Kind == kind) {
				return i
			}
		}
	}
	return nil
}

// shortened makes text harmless, and cuts it to at most so many characters.
func shortened(text string, limit int) string {
	text = clean(strings.ToValidUTF8(text, "?"))
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit-1]) + "…"
}
