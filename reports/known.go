package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/locktest/locktest/baseline"
)

// Baseline writes what became of the violations that a baseline accepts, and which others there are; nothing where there
// is nothing to tell.
func Baseline(w io.Writer, c *baseline.Comparison, style Style) error {
	p := &page{style: style}
	for _, part := range comparisonParts(c) {
		for _, s := range part.seen {
			p.wrapped(fmt.Sprintf("  %-9s", part.word), fmt.Sprintf("%s  %s; %s", s.ID, clean(s.Signature.String()), part.tell(s)))
		}
	}
	return p.flush(w)
}

// comparisonPart is the violations that became one thing.
type comparisonPart struct {
	word string
	seen []baseline.Seen
	tell func(baseline.Seen) string
}

func comparisonParts(c *baseline.Comparison) []comparisonPart {
	if c == nil {
		return nil
	}
	return []comparisonPart{
		{"new", c.New, func(s baseline.Seen) string { return sightings(s) }},
		{"ongoing", c.Ongoing, func(s baseline.Seen) string { return sightings(s) + "; accepted: " + clean(s.Because) }},
		{"resolved", c.Resolved, func(s baseline.Seen) string {
			return fmt.Sprintf("in none of %s; locktest baseline prune removes it", count(s.Runs, "run"))
		}},
		{"unclear", c.Unclear, func(s baseline.Seen) string {
			return fmt.Sprintf("in none of %s, but the evidence was not enough in each", count(s.Runs, "run"))
		}},
	}
}

func sightings(s baseline.Seen) string {
	text := fmt.Sprintf("in %d of %s", s.Seen, count(s.Runs, "run"))
	if s.Rare {
		text += ", which is rare: more repeats tell more"
	}
	return text
}

// baseline lists the same in a summary; what is ongoing is folded.
func (m *markdown) baseline(c *baseline.Comparison) {
	for _, part := range comparisonParts(c) {
		if len(part.seen) == 0 {
			continue
		}
		open, end := "\n**"+capital(part.word)+"**\n\n", ""
		if part.word == "ongoing" {
			open, end = fmt.Sprintf("\n<details><summary>%s ongoing</summary>\n\n", count(len(part.seen), "known violation")), "\n</details>\n"
		}
		m.WriteString(open)
		for i, s := range part.seen {
			if i == markdownRows/4 {
				m.printf("- … and %d more\n", len(part.seen)-i)
				break
			}
			m.printf("- `%s` %s; %s\n", s.ID, cell(s.Signature.String()), cell(part.tell(s)))
		}
		m.WriteString(end)
	}
}

// known says which violations of a run the baseline accepts.
func (s *screen) known() bool {
	for _, k := range s.o.Conclusion.Known {
		s.wrapped("  ", fmt.Sprintf("Known, by the baseline: %s, because %s", plain(k.Property), sentence(strings.TrimSpace(k.Because))))
	}
	return len(s.o.Conclusion.Known) > 0
}
