package reports

import (
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
)

// maxHTMLStories is how many kinds of violation are told in full.
const maxHTMLStories = 50

// htmlStory is one kind of violation, as its first instance tells it.
type htmlStory struct {
	Number    int
	Signature string
	Pattern   string
	Count     int
	More      string // instances that aren't told
	Lead      string
	Accepted  bool
	Diagram   template.HTML
	Events    []htmlEvent
	Left      string // of events
	What      string
	Why       []string
	Cause     []string
	Fence     string
	Text      string
	Weak      bool // a hazard, or doubtful
}

// htmlEvent is one line of what happened.
type htmlEvent struct {
	At, Who, Text, Result string
	Bad, Mark             bool
}

func (v *htmlView) stories(s *screen) {
	groups := s.ordered()
	for n, g := range groups {
		if n == maxHTMLStories {
			v.Left = fmt.Sprintf("%s of violation aren't told here; all are in result.json.", count(len(groups)-n, "more kind"))
			break
		}
		v.Stories = append(v.Stories, newHTMLStory(s, n+1, g))
	}
}

func newHTMLStory(s *screen, number int, g Group) htmlStory {
	i := g.Incidents[0]
	story := NewStory(s.o.History, i, Style{Width: 100})
	story.accepted = s.acceptedOnly(i)
	var text strings.Builder
	story.Write(&text) // into memory: it can't fail
	out := htmlStory{
		Number: number, Signature: i.Signature, Pattern: i.Pattern, Count: g.Count, Lead: clean(story.lead()), Accepted: story.accepted,
		What: story.what(), Why: cleaned(story.why()), Cause: cleaned(story.cause()), Fence: clean(story.fence()),
		Text: text.String(), Diagram: story.diagram(number),
	}
	if g.Count > 1 {
		out.More = count(g.Count-1, "more instance") + " of this kind"
	}
	events, left := story.scene.events()
	for _, e := range events {
		out.Events = append(out.Events, htmlEvent{At: at(e.at), Who: clean(e.who), Text: clean(e.text), Result: clean(e.result), Bad: e.bad, Mark: e.mark})
	}
	if left > 0 {
		out.Left = count(left, "line") + " left out"
	}
	out.Weak = !slices.ContainsFunc(i.Findings, func(f checker.Finding) bool { return f.Strength == checker.Definite })
	return out
}

func cleaned(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = clean(s)
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

type clockText struct{ node, text string }

// worstClocks are the largest offsets of the servers' clocks that were read.
func worstClocks(h *history.History) []clockText {
	worst := map[string]time.Duration{}
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Type != history.ClockOffset {
			continue
		}
		if seen, ok := worst[op.Name]; !ok || op.Offset.Abs() > seen.Abs() {
			worst[op.Name] = op.Offset
		}
	}
	var out []clockText
	for _, node := range sortedKeys(worst) {
		way := "ahead of this machine's at most"
		if worst[node] < 0 {
			way = "behind this machine's at most"
		}
		out = append(out, clockText{clean(node), long(worst[node].Abs()) + " " + way})
	}
	return out
}
