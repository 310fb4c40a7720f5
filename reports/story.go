package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
)

// Story tells one incident: what happened, why it is a violation, what may have caused it. All of it is derived from the
// history; what isn't known is said.
type Story struct {
	scene    *scene
	style    Style
	accepted bool         // the scenario accepts it
	shown    map[int]bool // indexes of the events that have a line
}

// NewStory prepares the story of i.
func NewStory(h *history.History, i Incident, style Style) *Story {
	return &Story{scene: newScene(h, &i), style: style, shown: map[int]bool{}}
}

// Write writes the story, lane diagram included, in lines that fit the style's width.
func (s *Story) Write(w io.Writer) error {
	p := &page{style: s.style}
	s.tell(p)
	return p.flush(w)
}

func (s *Story) tell(p *page) {
	lead := s.lead()
	if s.accepted {
		lead = "A hazard that the scenario accepts: " + lead
	}
	p.wrapped("  ", lead)
	p.blank()
	p.line("  " + p.paint(colorName, "What happened"))
	s.happened(p)
	p.line("  " + p.paint(colorName, "Why this is a "+s.what()))
	for _, line := range s.why() {
		p.wrapped("    ", line)
	}
	p.line("  " + p.paint(colorName, "Possible cause") + " (not tested)")
	for _, line := range s.cause() {
		p.wrapped("    ", line)
	}
	if fence := s.fence(); fence != "" {
		p.wrapped("  Would a fence have helped?  ", fence)
	}
	if lanes := s.lanes(); len(lanes) > 0 {
		p.blank()
		for _, l := range lanes {
			p.line("  " + l)
		}
	}
}

// what the incident is: a violation, or a hazard if all of it is one that leases allow.
func (s *Story) what() string {
	if slices.ContainsFunc(s.scene.i.Findings, func(f checker.Finding) bool { return f.Strength != checker.Hazard }) {
		return "violation"
	}
	return "hazard"
}

// lead is the sentence that sums the incident up.
func (s *Story) lead() string {
	sc := s.scene
	var parts []string
	if n := s.overlap(); n >= 0 {
		f := sc.i.Findings[n]
		parts = append(parts, fmt.Sprintf("%s held %q at the same time for %s", joined(holders(sc)), clean(f.Lock), long(f.Until-f.At)))
	}
	for _, st := range sc.steps {
		op := st.filled()
		if sc.stale(op) {
			parts = append(parts, "a stale write was accepted")
			break
		}
		if sc.fenced(op) && len(parts) > 0 {
			parts = append(parts, "the late write was refused")
			break
		}
	}
	if len(parts) == 0 || parts[0] == "a stale write was accepted" {
		return sentence(s.message(0))
	}
	return sentence(strings.Join(parts, ", and "))
}

// overlap is the finding that tells of two holders at one time; -1: there is none.
func (s *Story) overlap() int {
	for n, f := range s.scene.i.Findings {
		if s.scene.i.Of[n] == checker.MutualExclusion && len(holders(s.scene)) >= 2 && f.Until > f.At {
			return n
		}
	}
	return -1
}

// holders are the clients of the grants, in the order of these.
func holders(sc *scene) []string {
	var out []string
	for _, g := range sc.grants {
		if !g.cause && !slices.Contains(out, g.client) {
			out = append(out, g.client)
		}
	}
	return out
}

// resultColumn is where outcomes stand, if the text before them leaves room.
const resultColumn = 55

func (s *Story) happened(p *page) {
	events, left := s.scene.events()
	wide := len(at(s.scene.to))
	for _, e := range events {
		wide = max(wide, len(at(e.at)))
	}
	name := s.nameWidth()
	for _, e := range events {
		s.shown[e.op] = true
		s.event(p, e, wide, name)
	}
	if left > 0 {
		p.line(fmt.Sprintf("    (%s left out)", count(left, "line")))
	}
}

func (s *Story) nameWidth() int {
	wide := 2
	for _, c := range s.scene.clients() {
		wide = max(wide, len([]rune(c)))
	}
	return min(wide, 10)
}

func (s *Story) event(p *page, e event, wide, name int) {
	mark := " "
	if e.mark {
		mark = "●"
	}
	prefix := fmt.Sprintf("    %*s  %s %s  ", wide, at(e.at), mark, pad(clean(e.who), name))
	result := clean(e.result)
	lines := wrap(clean(e.text), p.style.width()-len([]rune(prefix)))
	last := &lines[len(lines)-1]
	if result != "" {
		column := resultColumn - len([]rune(prefix))
		if len([]rune(*last)) < column && resultColumn+len([]rune(result)) <= p.style.width() {
			*last = pad(*last, column)
		} else if len([]rune(prefix))+len([]rune(*last))+3+len([]rune(result)) <= p.style.width() {
			*last += "   "
		} else {
			lines = append(lines, "")
			last = &lines[len(lines)-1]
		}
		if e.bad {
			result = p.paint(colorBad, result)
		}
		*last += result
	}
	for i, l := range lines {
		if i > 0 {
			prefix = strings.Repeat(" ", len([]rune(prefix)))
		}
		if e.mark {
			l = p.paint(colorFault, l)
		}
		p.line(prefix + l)
	}
}
