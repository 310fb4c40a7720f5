package reports

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

// Text returns the reporter of the screen at the end of a run: the verdict, the story if there is one, the evidence per
// property, and what to type next.
func Text(style Style) Reporter {
	return func(w io.Writer, o *runner.Outcome) error {
		s := &screen{page: &page{style: style}, o: o}
		s.write()
		return s.flush(w)
	}
}

// Verdict returns the reporter of the first line alone, for --quiet.
func Verdict(style Style) Reporter {
	return func(w io.Writer, o *runner.Outcome) error {
		s := &screen{page: &page{style: style}, o: o}
		s.line(s.painted(s.head() + "   " + s.facts()))
		return s.flush(w)
	}
}

type screen struct {
	*page
	o       *runner.Outcome
	groups  []Group // as ordered gives them, once it was asked
	sorted  bool
	figures bool // metrics were written
}

func (s *screen) write() {
	s.headline()
	s.interrupted()
	s.conditions()
	s.stories()
	s.properties()
	if !s.storied() {
		s.metrics()
	}
	s.cautions()
	s.next()
}

// head is the verdict with what decides it.
func (s *screen) head() string {
	if names := s.violatedNames(); len(names) > 0 {
		return s.o.Conclusion.Word + "   " + strings.Join(names, ", ")
	}
	return s.o.Conclusion.Word
}

// facts say which run it was.
func (s *screen) facts() string {
	o := s.o
	facts := []string{}
	if o.Scenario != nil {
		facts = append(facts, o.Scenario.Name)
	}
	facts = append(facts, o.Lock, s.lasted(), fmt.Sprintf("seed %d", o.Seed))
	if o.Run != "" {
		facts = append(facts, "run "+o.Run)
	}
	return strings.Join(slices.DeleteFunc(cleaned(facts), func(f string) bool { return f == "" }), "   ")
}

func (s *screen) painted(line string) string {
	word := s.o.Conclusion.Word
	return strings.Replace(line, word, s.paint(colorOf(word), word), 1)
}

// headline is the verdict and which run it is about.
func (s *screen) headline() {
	o, head, rest := s.o, s.head(), s.facts()
	lines := []string{head + "   " + rest}
	if utf8.RuneCountInString(lines[0]) > s.style.width() {
		lines = append(hanging(head, s.style.width()), "  "+rest)
	}
	for _, l := range lines {
		s.line(s.painted(l))
	}
	if o.Cluster != "" {
		first := "  on "
		if strings.HasPrefix(o.Cluster, "in ") {
			first = "  "
		}
		s.wrapped(first, clean(o.Cluster)+s.clients())
	}
}

// hanging breaks a list at its commas, further lines indented.
func hanging(text string, width int) []string {
	var out []string
	line := ""
	for i, part := range strings.SplitAfter(text, ", ") {
		if i > 0 && utf8.RuneCountInString(line+part) > width {
			out, line = append(out, line), "  "
		}
		line += part
	}
	return append(out, line)
}

func (s *screen) clients() string {
	if s.o.History == nil || len(s.o.History.Header.Clients) == 0 {
		return ""
	}
	if s.o.Separate {
		return "; " + count(len(s.o.History.Header.Clients), "client") + ", a process each"
	}
	return "; " + count(len(s.o.History.Header.Clients), "client") + " in this process: none was signalled"
}

func (s *screen) lasted() string {
	if h := s.o.History; h != nil && len(h.Ops) > 0 {
		return fmt.Sprintf("%.1f s", h.Ops[len(h.Ops)-1].Time.Seconds())
	}
	return ""
}

func colorOf(word string) string {
	switch word {
	case runner.WordViolated, runner.WordExpectation:
		return colorBad
	case runner.WordInconclusive:
		return colorDoubt
	}
	return colorGood
}

// violatedNames are the properties that decide the verdict, where one was violated or missed.
func (s *screen) violatedNames() []string {
	var out []string
	for _, c := range s.o.Conclusion.Conditions {
		if c.Exit == s.o.Conclusion.Exit && c.Exit != runner.ExitInconclusive {
			out = append(out, plain(c.Property))
		}
	}
	return out
}

func (s *screen) interrupted() {
	if s.o.Interrupted != "" {
		s.wrapped("  ", fmt.Sprintf("Interrupted by %s: what was recorded until then is judged; how the run would have ended was not tested.", s.o.Interrupted))
	}
	if s.o.Interrupted == "" && ended(s.o.Err) == "" && unfinished(s.o.History) {
		s.wrapped("  ", "The run did not reach its end: what was recorded until then is judged; how it would have ended was not tested.")
	}
	for _, l := range disagreements(s.o.CrossCheck) {
		s.wrapped("  ", l)
	}
	if text := ended(s.o.Err); text != "" {
		s.wrapped("  ", "The run did not go to its end: "+sentence(text))
	}
	if h := s.o.History; h != nil && h.Truncated != "" {
		s.wrapped("  ", "The history is incomplete: "+sentence(h.Truncated))
	}
}

// ended is what ended a run too early: a disagreement of the engines, which came afterwards, is not among it.
func ended(err error) string {
	if err == nil {
		return ""
	}
	var d *runner.DisagreementError
	if !errors.As(err, &d) {
		return err.Error()
	}
	return strings.Join(slices.DeleteFunc(splitLines(err.Error()), func(l string) bool { return l == d.Error() }), "\n")
}

// cut says whether the run was ended before its time: more of the same would not help.
func (s *screen) cut() bool { return s.o.Interrupted != "" || unfinished(s.o.History) }

// unfinished says whether a history has parts, but not the last one.
func unfinished(h *history.History) bool {
	if h == nil {
		return false
	}
	phases := map[string]bool{}
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Type == history.Phase {
			phases[op.Name] = true
		}
	}
	return len(phases) > 0 && !phases[history.PhaseEnd]
}

// conditions say in words why the exit status is what it is, where the story doesn't.
func (s *screen) conditions() {
	c := s.o.Conclusion
	s.blank()
	for _, e := range c.Expected {
		s.wrapped("  ", fmt.Sprintf("%s was expected to be violated: %s", capital(plain(e.Property)), sentence(e.Text)))
	}
	var accepted []string
	for _, a := range c.Accepted {
		accepted = append(accepted, plain(a.Property))
	}
	if len(accepted) > 0 && !s.storied() {
		s.wrapped("  ", "Violated, and accepted by the scenario: "+strings.Join(accepted, ", ")+".")
	}
	told := s.known() || len(c.Expected) > 0 || len(accepted) > 0 && !s.storied()
	for _, m := range c.Conditions {
		if m.Exit == runner.ExitViolated || s.inStory(m.Property) || s.cut() && m.Property == checker.Coverage {
			continue
		}
		s.wrapped("  ", fmt.Sprintf("%s (%s): %s", plain(m.Property), m.Name, sentence(m.Text)))
		told = true
	}
	if told {
		s.blank()
	}
}

// inStory says whether the story is about a property.
func (s *screen) inStory(property string) bool {
	id, kind, _ := strings.Cut(property, "/")
	if s.o.History == nil {
		return false
	}
	groups := s.ordered()
	if len(groups) == 0 {
		return false
	}
	told := groups[0].Incidents[0]
	for n, of := range told.Of {
		if of == id && (kind == "" || told.Findings[n].Kind == kind) {
			return true
		}
	}
	return false
}

// stories tells the gravest incident in full, and the first of each other kind in a sentence.
func (s *screen) stories() {
	if s.o.History == nil {
		return
	}
	groups := s.ordered()
	if len(groups) == 0 {
		return
	}
	if w := s.o.Conclusion.Word; w == runner.WordInconclusive {
		names := groups[0].Incidents[0].Properties()
		for i := range names {
			names[i] = plain(names[i])
		}
		word := "Violated: "
		if s.acceptedOnly(groups[0].Incidents[0]) {
			word = "Violated, and accepted by the scenario: "
		}
		s.wrapped("  ", word+strings.Join(names, ", "))
		s.blank()
	}
	story := NewStory(s.o.History, groups[0].Incidents[0], s.style)
	story.accepted = s.acceptedOnly(groups[0].Incidents[0])
	story.tell(s.page)
	s.blank()
}

// storied says whether there is a story to tell.
func (s *screen) storied() bool { return s.o.History != nil && len(s.ordered()) > 0 }

// acceptedOnly says whether the scenario accepts all that an incident violates.
func (s *screen) acceptedOnly(i Incident) bool {
	for n, f := range i.Findings {
		if !slices.ContainsFunc(s.o.Conclusion.Accepted, func(c runner.Condition) bool { return c.Property == i.Of[n] || c.Property == i.Of[n]+"/"+f.Kind }) {
			return false
		}
	}
	return true
}

// ordered puts incidents that decide the exit status before those that were expected or are accepted.
func (s *screen) ordered() []Group {
	if s.sorted {
		return s.groups
	}
	groups := Groups(s.o.History, s.o.Results)
	decisive := func(g Group) int {
		for _, c := range s.o.Conclusion.Conditions {
			id, kind, _ := strings.Cut(c.Property, "/")
			for n, p := range g.Incidents[0].Of {
				if p == id && (kind == "" || g.Incidents[0].Findings[n].Kind == kind) {
					return 0
				}
			}
		}
		return 1
	}
	slices.SortStableFunc(groups, func(a, b Group) int { return decisive(a) - decisive(b) })
	s.groups, s.sorted = groups, true
	return groups
}

// next prints only commands that exist.
func (s *screen) next() {
	if s.o.Dir != "" {
		s.line("  history  " + clean(filepath.ToSlash(filepath.Join(s.o.Dir, "history.jsonl"))))
	}
	if s.o.Report != "" {
		s.line("  report   " + clean(filepath.ToSlash(s.o.Report)))
	}
	if s.o.Again == "" {
		return
	}
	if s.o.Conclusion.Exit == runner.ExitInconclusive && s.o.Scenario != nil && s.o.Scenario.Run.Duration > 0 && !s.cut() && strings.HasPrefix(s.o.Again, "locktest run ") {
		longer := 2 * s.o.Scenario.Run.Duration
		s.line("  longer   " + clean(s.o.Again) + " --set run.duration=" + longer.String())
	}
	s.line("  again    " + clean(s.o.Again))
}
