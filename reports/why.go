package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
)

// why says which sentences of the history contradict what was promised.
func (s *Story) why() []string {
	var out []string
	lead := s.lead()
	add := func(line string) {
		if line = sentence(line); line != "" && line != lead && !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	for _, g := range s.scene.grants {
		add(s.belief(g))
	}
	var told []string // properties: one message of each is enough, the rest is counted below
	for n, f := range s.scene.i.Findings {
		of := s.scene.i.Of[n]
		if slices.Contains(told, of) {
			continue
		}
		told = append(told, of)
		if n == s.overlap() && len(holders(s.scene)) == 2 && len(out) == 2 {
			add(fmt.Sprintf("Both held it from %s to %s.", at(f.At), at(f.Until)))
			continue
		}
		add(s.message(n))
	}
	for _, line := range s.proofs() {
		add(line)
	}
	for _, f := range s.scene.i.Findings {
		add(strength(f))
	}
	add(s.layer())
	return out
}

// proofs tells, of each stale write among the lines, which operation makes it one, where that has no line and no finding.
func (s *Story) proofs() []string {
	var out []string
	for _, st := range s.scene.steps {
		op := st.filled()
		seen, stale := s.scene.proofs[op.Index]
		told := slices.ContainsFunc(s.scene.i.Findings, func(f checker.Finding) bool { return slices.Contains(f.Ops, seen.op.Index) })
		if !stale || !s.shown[op.Index] || s.shown[seen.op.Index] || told {
			continue
		}
		verb := "wrote"
		if seen.op.F == history.Read {
			verb = "read"
		}
		out = append(out, fmt.Sprintf("The write at %s is stale: %s %s %q with token %d at %s.", at(op.Time), seen.op.Client, verb, clean(op.Resource), seen.token, at(seen.op.Time)))
	}
	return out[:min(len(out), 2)]
}

// message is a finding in words: an update that was lost in the values of the lines above, else what the checker says.
func (s *Story) message(n int) string {
	f := s.scene.i.Findings[n]
	if f.Kind == checker.LostUpdate {
		if text := s.lostUpdate(f); text != "" {
			return text
		}
	}
	return f.Message
}

// lostUpdate says which number was computed without which (others may have been written between them); empty where the writes carry none.
func (s *Story) lostUpdate(f checker.Finding) string {
	var writes []history.Op
	values := map[int64]string{}
	for _, st := range s.scene.steps {
		op := st.filled()
		if op.F == history.Read || op.F == history.Write {
			values[op.Value] = payload(&op)
		}
		if op.F == history.Write && st.call != nil && slices.Contains(f.Ops, st.call.Index) {
			writes = append(writes, op)
		}
	}
	if len(writes) != 2 || strings.HasPrefix(payload(&writes[0]), "version") {
		return ""
	}
	first, second := writes[0], writes[1]
	text := fmt.Sprintf("%s's %s%s, written at %s, ", second.Client, payload(&second), withToken(&second), at(second.Time))
	if base, ok := values[second.Base]; ok && !strings.HasPrefix(base, "version") {
		text += "was computed from the old " + base
	} else {
		text += "was computed from something older"
	}
	return text + fmt.Sprintf(", without %s's %s%s: an update is lost.", first.Client, payload(&first), withToken(&first))
}

// belief says how long a client counted as holder, where another one's grant makes that matter.
func (s *Story) belief(g *grant) string {
	if g.granted == never || g.cause || len(s.scene.grants) < 2 {
		return ""
	}
	switch {
	case g.stop == never && s.scene.to > g.granted:
		return fmt.Sprintf("%s counted as holder from %s on: it neither released nor was told of a loss.", g.client, at(g.granted))
	case g.stopped == "lost":
		return fmt.Sprintf("%s counted as holder until %s, when it was told of its loss.", g.client, at(g.stop))
	case g.stopped == "killed":
		return fmt.Sprintf("%s counted as holder until it was killed at %s.", g.client, at(g.stop))
	case g.stopped == "silent":
		return fmt.Sprintf("%s counted as holder until its lease ended at %s: nothing later is known of it.", g.client, at(g.stop))
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
		if strings.Contains(f.Message, "The reply to the acquire came") {
			return "A reply that is this late, and that nobody had asked for, proves nothing about the lock."
		}
		return "The host stalled meanwhile and nobody had asked for that, so this proves nothing about the lock."
	case checker.Hazard:
		return "A lease allows this: it is a hazard of leases, not a fault of the lock."
	}
	return ""
}

// layer names which of the three layers of truth broke: what was granted, what was believed, what was accepted. A history
// doesn't show which part of a lock is at fault, and a client is only where it acted.
func (s *Story) layer() string {
	var out []string
	idle := ""
	for n, f := range s.scene.i.Findings {
		text := ""
		switch f.Blame {
		case "":
		case checker.Service, checker.ClientLibrary, checker.ServiceOrLibrary:
			text = "the lock (its algorithm, client library or service)"
		case checker.ResourceParty:
			text = "the resource, which took what it should have refused"
		case checker.ClientParty:
			if s.scene.i.Of[n] == checker.Hygiene {
				text = "the client (or what drives it), which kept what it should have given back"
			} else if late := s.acted(); late != "" {
				text = "the client " + late + ", which acted on a lease that was over"
			} else if f.Kind == checker.StaleHolder {
				idle = "Nobody wrote, or extended a lease, after the lease had ended: no harm came of it."
			}
		default:
			text = "the " + string(f.Blame)
		}
		if text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		return idle
	}
	if late := s.acted(); s.what() == "hazard" && late != "" && s.refusedToken() != 0 {
		return fmt.Sprintf("Nothing broke: the client %s acted on a lease that was over, and was refused.", late)
	}
	return "What broke: " + strings.Join(out, "; ") + "."
}

// acted is the client that wrote or extended after its lease had ended; empty: none did.
func (s *Story) acted() string {
	for _, g := range s.scene.grants {
		for _, st := range s.scene.steps {
			op := st.filled()
			if !g.cause && op.Grant == g.id && st.call != nil && (op.F == history.Write || op.F == history.Extend) && op.Time > g.leaseEnd {
				return g.client
			}
		}
	}
	return ""
}
