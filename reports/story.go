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
	scene *scene
	style Style
}

// NewStory prepares the story of i.
func NewStory(h *history.History, i Incident, style Style) *Story {
	return &Story{scene: newScene(h, &i), style: style}
}

// Write writes the story, lane diagram included, in lines that fit the style's width.
func (s *Story) Write(w io.Writer) error {
	p := &page{style: s.style}
	s.tell(p)
	return p.flush(w)
}

func (s *Story) tell(p *page) {
	p.wrapped("  ", s.lead())
	p.blank()
	p.line("  " + p.paint(colorName, "What happened"))
	s.happened(p)
	p.blank()
	p.line("  " + p.paint(colorName, "Why this is a "+s.what()))
	for _, line := range s.why() {
		p.wrapped("    ", line)
	}
	p.blank()
	p.line("  " + p.paint(colorName, "Possible cause") + " (not tested)")
	for _, line := range s.cause() {
		p.wrapped("    ", line)
	}
	if fence := s.fence(); fence != "" {
		p.blank()
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
	for n, f := range sc.i.Findings {
		if sc.i.Of[n] == checker.MutualExclusion && len(sc.clients()) >= 2 && f.Until > f.At {
			parts = append(parts, fmt.Sprintf("%s held %q at the same time for %s", joined(holders(sc)), clean(f.Lock), long(f.Until-f.At)))
			break
		}
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
		return sentence(sc.i.Findings[0].Message)
	}
	return sentence(strings.Join(parts, ", and "))
}

// holders are the clients of the grants, in the order of these.
func holders(sc *scene) []string {
	var out []string
	for _, g := range sc.grants {
		if !slices.Contains(out, g.client) {
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
		s.event(p, e, wide, name)
	}
	if left > 0 {
		p.line(fmt.Sprintf("    (%s of these clients left out)", count(left, "line")))
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
	who := e.who
	prefix := fmt.Sprintf("    %*s  %s %s  ", wide, at(e.at), mark, pad(who, name))
	result := e.result
	lines := wrap(e.text, p.style.width()-len([]rune(prefix)))
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

// why says which sentences of the history contradict what was promised.
func (s *Story) why() []string {
	var out []string
	add := func(line string) {
		if line = sentence(line); line != "" && !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	for _, g := range s.scene.grants {
		add(s.belief(g))
	}
	for _, f := range s.scene.i.Findings {
		add(f.Message)
	}
	for _, f := range s.scene.i.Findings {
		add(strength(f))
	}
	add(s.layer())
	return out
}

// belief says how long a client counted as holder, where another one's grant makes that matter.
func (s *Story) belief(g *grant) string {
	if g.granted == never || len(s.scene.grants) < 2 {
		return ""
	}
	switch {
	case g.stop == never && s.scene.to > g.granted:
		return fmt.Sprintf("%s counted as holder from %s on: it neither released nor was told of a loss.", g.client, at(g.granted))
	case g.stopped == "lost":
		return fmt.Sprintf("%s counted as holder until %s, when it was told of its loss.", g.client, at(g.stop))
	case g.stopped == "killed":
		return fmt.Sprintf("%s counted as holder until it was killed at %s.", g.client, at(g.stop))
	case len(g.leases) > 1:
		return fmt.Sprintf("%s counted as holder until %s; its lease had ended at %s and was extended only at %s.", g.client, at(g.stop), at(g.leaseEnd), at(g.leases[1].from))
	case g.leaseEnd != never && g.leaseEnd < g.stop:
		return fmt.Sprintf("%s counted as holder until %s, although its lease had ended at %s: it was not told of any loss before it released.", g.client, at(g.stop), at(g.leaseEnd))
	case g.stopped == "released" && g.leaseEnd == never:
		return fmt.Sprintf("%s counted as holder until it released at %s.", g.client, at(g.stop))
	case g.stopped == "released":
		return fmt.Sprintf("%s counted as holder until it released at %s, within its lease.", g.client, at(g.stop))
	}
	return ""
}

func strength(f checker.Finding) string {
	switch f.Strength {
	case checker.UnderClocks:
		return "This is certain only as far as clocks, and delays smaller than those measured, can be trusted."
	case checker.UnderStall:
		return "The host stalled meanwhile and nobody had asked for that, so this proves nothing about the lock."
	case checker.Hazard:
		return "A lease allows this: a client that cannot look at the clock cannot know that its lease is over. It is a hazard of leases, not a fault of the service."
	}
	return ""
}

// layer names which of the three layers of truth broke: what was granted, what was believed, what was accepted.
func (s *Story) layer() string {
	var parties []checker.Party
	for _, f := range s.scene.i.Findings {
		if f.Blame != "" && !slices.Contains(parties, f.Blame) {
			parties = append(parties, f.Blame)
		}
	}
	var out []string
	for _, p := range parties {
		switch p {
		case checker.Service:
			out = append(out, "the service, which granted or answered what it should not have")
		case checker.ClientLibrary:
			out = append(out, "the client library, which told its client that it held the lock")
		case checker.ClientParty:
			out = append(out, "the client, which acted on a lease that was over")
		case checker.ResourceParty:
			out = append(out, "the resource, which accepted or answered what it should not have")
		default:
			out = append(out, "the "+string(p))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "What broke: " + strings.Join(out, "; ") + "."
}

// cause lists what the harness did meanwhile. It was not tested whether the violation comes without it.
func (s *Story) cause() []string {
	var out []string
	for i := range s.scene.faults {
		out = append(out, s.faultCause(&s.scene.faults[i]))
	}
	for _, op := range s.scene.stalls {
		who := "the harness"
		if op.Client != "" {
			who = op.Client
		}
		out = append(out, fmt.Sprintf("The host stalled: a timer of %s came %s late at %s.", who, long(op.TTL), at(op.Time)))
	}
	if len(out) == 0 {
		return []string{"No fault was active, and the host did not stall: nothing that locktest did explains it."}
	}
	return out
}

func (s *Story) faultCause(f *fault) string {
	for _, g := range s.scene.grants {
		if f.stops(g.client) && g.granted != never && g.leaseEnd != never && f.from < g.leaseEnd && f.to > g.leaseEnd {
			if f.to == never {
				return fmt.Sprintf("The pause of %s did not end before its lease did.", g.client)
			}
			return fmt.Sprintf("The pause of %s (%s) outlasted its lease, which had %s left when it began.", g.client, long(f.to-f.from), long(g.leaseEnd-f.from))
		}
	}
	text := fmt.Sprintf("%s, from %s", capital(f.text), at(f.from))
	if f.to == never {
		return text + " on."
	}
	return fmt.Sprintf("%s to %s.", text, at(f.to))
}

// fence answers whether a token check would have kept the harm away. Empty: the question makes no sense here.
func (s *Story) fence() string {
	var answer string
	for n, f := range s.scene.i.Findings {
		if s.scene.i.Of[n] == checker.Fencing {
			return ""
		}
		if token := s.refusedToken(); token != 0 && s.scene.i.Of[n] == checker.MutualExclusion {
			answer = fmt.Sprintf("It did: the resource refused token %d.", token)
		}
		switch {
		case f.Fenced == "yes":
			return "Yes: " + s.refusal()
		case f.Fenced == "no" && f.Resource != "" && s.scene.h.Header.Resource(f.Resource).Check == history.ChecksToken:
			answer = "No: this resource checks tokens, and it happened all the same."
		case f.Fenced == "no":
			answer = "No: a token check lets this pass as well."
		case f.Fenced == "no tokens":
			answer = "No: this lock gives no tokens that a resource could check."
		case f.Fenced != "":
			answer = "It is " + sentence(f.Fenced)
		}
	}
	return answer
}

// refusedToken is that of a late write that a token check kept out; 0: there was none.
func (s *Story) refusedToken() uint64 {
	for _, st := range s.scene.steps {
		if op := st.filled(); s.scene.fenced(op) {
			return op.Token
		}
	}
	return 0
}

func (s *Story) refusal() string {
	for _, st := range s.scene.steps {
		op := st.filled()
		if s.scene.stale(op) {
			return fmt.Sprintf("the resource would have refused token %d.", op.Token)
		}
	}
	return "the resource would have refused the older token."
}
