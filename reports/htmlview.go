package reports

import (
	"fmt"
	"html/template"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

// htmlView is all that the page's template shows.
type htmlView struct {
	Title    string
	Mark     string // ✗, ✓, ?: beside the word
	Class    string // bad, doubt, good
	Word     string
	Names    string
	Facts    string
	Cluster  string
	Notes    []string // interrupted, truncated, why the exit status is what it is
	Cautions []string
	Stories  []htmlStory
	Left     string // of stories

	Properties []htmlProperty
	Plot       template.HTML
	Contention htmlContention
	Faults     []htmlFault
	Again      []htmlCommand
	Known      [][2]string // seed, versions, …
	Folder     Folder
	Left2      string // of operations, above the cap

	ops   *operations
	facts htmlFacts
}

// htmlProperty is a row of the table of verdicts.
type htmlProperty struct {
	Name, Verdict, Class, Mark string
	Evidence                   []string
}

type htmlCommand struct{ Name, Line string }

func newHTMLView(o *runner.Outcome, options HTMLOptions) *htmlView {
	s := &screen{page: &page{}, o: o}
	v := &htmlView{Word: o.Conclusion.Word, Facts: strings.ReplaceAll(clean(s.facts()), "   ", " · "), Folder: options.Folder}
	v.Title = strings.Join(slices.DeleteFunc([]string{v.Word, scenarioName(o), o.Run}, func(s string) bool { return s == "" }), " · ")
	v.Names = strings.Join(s.violatedNames(), ", ")
	v.Class, v.Mark = wordClass(v.Word)
	if o.Cluster != "" {
		v.Cluster = "on " + strings.TrimPrefix(clean(o.Cluster), "on ") + s.clients()
		if strings.HasPrefix(o.Cluster, "in ") {
			v.Cluster = clean(o.Cluster) + s.clients()
		}
	}
	v.Notes = paragraphs(s, func() { s.interrupted(); s.conditions() })
	v.Cautions = paragraphs(s, s.cautions)
	v.properties(s)
	v.known(o)
	for _, l := range paragraphs(s, s.next) {
		if name, line, ok := strings.Cut(l, " "); ok {
			v.Again = append(v.Again, htmlCommand{name, strings.TrimSpace(line)})
		}
	}
	if o.History != nil {
		v.stories(s)
		v.Contention = newHTMLContention(o)
		v.Faults = htmlFaults(o, s.ordered())
		v.Plot = plot(o)
		v.ops = newOperations(o.History, o.Results, s.ordered(), options)
		v.Left2 = v.ops.left
		v.facts = newHTMLFacts(v.ops, s)
	}
	return v
}

func scenarioName(o *runner.Outcome) string {
	if o.Scenario == nil {
		return ""
	}
	return clean(o.Scenario.Name)
}

// paragraphs are what a part of the screen says, each in one piece.
func paragraphs(s *screen, part func()) []string {
	s.page = &page{style: Style{unbroken: true}}
	part()
	var out []string
	for _, l := range splitLines(s.String()) {
		if text := strings.TrimSpace(clean(l)); text != "" {
			out = append(out, text)
		}
	}
	return out
}

func wordClass(word string) (class, mark string) {
	switch colorOf(word) {
	case colorBad:
		return "bad", "✗"
	case colorDoubt:
		return "doubt", "?"
	}
	return "good", "✓"
}

func (v *htmlView) properties(s *screen) {
	for _, r := range s.o.Results {
		p := htmlProperty{Name: plain(r.Property), Verdict: shownVerdict(s.o.Conclusion, r)}
		switch {
		case r.Verdict == checker.Held:
			p.Class, p.Mark = "good", "✓"
		case r.Verdict == checker.Inconclusive:
			p.Class, p.Mark = "doubt", "?"
		case r.Verdict == checker.NotApplicable:
			p.Class, p.Mark = "muted", "–"
		case p.Verdict == word(checker.Violated):
			p.Class, p.Mark = "bad", "✗"
		default: // violated, and that was expected or is accepted
			p.Class, p.Mark = "muted", "✗"
		}
		for _, text := range []string{r.Summary, r.Why} {
			if text = clean(text); text != "" && !slices.ContainsFunc(p.Evidence, func(e string) bool { return strings.Contains(e, text) }) {
				p.Evidence = append(p.Evidence, text)
			}
		}
		if r.Verdict == checker.Violated {
			p.Evidence = append(p.Evidence, kindLines(s.o.History, r)...)
		}
		if !r.Complete && r.Verdict == checker.Held {
			p.Evidence = append(p.Evidence, "sound, but not complete: a violation could have been missed")
		}
		v.Properties = append(v.Properties, p)
	}
}

// kindLines are what violates a property by kind, each with its number and its first message.
func kindLines(h *history.History, r checker.Result) []string {
	kinds, rest := kindsOf(h, r)
	var out []string
	for _, k := range kinds {
		out = append(out, clean(k.line(false)))
	}
	if rest > 0 {
		out = append(out, grouped(rest)+" more, counted but not kept one by one")
	}
	return out
}

func (v *htmlView) known(o *runner.Outcome) {
	add := func(name, text string) {
		if text != "" {
			v.Known = append(v.Known, [2]string{name, clean(text)})
		}
	}
	add("seed", fmt.Sprint(o.Seed))
	add("run", o.Run)
	if !o.Began.IsZero() {
		add("began", o.Began.UTC().Format(time.RFC3339))
	}
	add("folder", filepath.ToSlash(o.Dir))
	add("lock", o.Lock)
	add("servers", o.Kind+reason(o.KindWhy))
	h := o.History
	if h == nil {
		return
	}
	for _, name := range sortedKeys(h.Header.Versions) {
		add("version of "+name, h.Header.Versions[name])
	}
	if h.Header.ClockError > 0 {
		add("time stamps", "right to "+long(h.Header.ClockError))
	}
	for _, c := range worstClocks(h) {
		add("clock of "+c.node, c.text)
	}
	if n, worst := stalls(h); n > 0 {
		add("stalls of the host", fmt.Sprintf("%s, up to %s", times(n), long(worst)))
	}
}
