package reports

import (
	"fmt"
	"slices"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
)

// cause lists what the harness did meanwhile. It was not tested whether the violation comes without it.
func (s *Story) cause() []string {
	var out []string
	later := 0
	if text := s.freed(); text != "" {
		out = append(out, text)
	}
	for i := range s.scene.faults {
		f := &s.scene.faults[i]
		if s.scene.held != nil && s.scene.held.begin == f.begin {
			continue // told with the release
		}
		if f.from > s.scene.i.harm() {
			later++
			continue // what it did not precede it did not bring about
		}
		out = append(out, s.faultCause(f))
	}
	for _, op := range s.scene.stalls {
		who := "the harness"
		if op.Client != "" {
			who = op.Client
		}
		out = append(out, fmt.Sprintf("The host stalled: a timer of %s came %s late at %s.", who, long(op.TTL), at(op.Time)))
	}
	if len(out) == 0 && later > 0 {
		return []string{"Each fault that is shown began after the harm was done, and the host did not stall: nothing that locktest did explains it."}
	}
	if len(out) == 0 {
		return []string{"No fault was active, none had just ended, and the host did not stall: nothing that locktest did explains it."}
	}
	return out
}

// harm is when what the story is about had come about: who held together had been granted the lock, what is a matter of a moment
// had happened, and what lasts was over.
func (i *Incident) harm() time.Duration {
	harm, together := time.Duration(0), never
	for n, f := range i.Findings {
		switch {
		case slices.Contains([]string{checker.DoubleGrant, checker.StaleHolder, checker.TooMany, checker.WriterNotAlone}, f.Kind):
			together = min(together, f.At)
		case n < len(i.Of) && slices.Contains([]string{checker.Liveness, checker.Fairness, checker.Hygiene, checker.Availability}, i.Of[n]):
			harm = max(harm, f.Until, f.At)
		default:
			harm = max(harm, f.At)
		}
	}
	if together != never {
		return together
	}
	return harm
}

// freed tells of the release that may have made the lock free while it was held.
func (s *Story) freed() string {
	r, sc := s.scene.release, s.scene
	if r.call == nil {
		return ""
	}
	grant := "another grant"
	for _, g := range sc.grants {
		if g.id == r.call.Grant && g.token != 0 {
			grant = fmt.Sprintf("token %d", g.token)
		}
		if g.id == r.call.Grant && g.leaseEnd != never && g.leaseEnd < sc.to {
			grant += ", over at " + at(g.leaseEnd)
		}
	}
	if r.end != nil && r.end.Type == history.OK && r.end.Time-r.call.Time < 10*time.Millisecond && sc.held == nil {
		return fmt.Sprintf("%s's release of %q (%s) at %s was answered ok: it may have freed the lock while %s held it.", r.call.Client, clean(sc.lockName()), grant, at(r.call.Time), holders(sc)[0])
	}
	text := fmt.Sprintf("%s's release of %q (%s), sent at %s", r.call.Client, clean(sc.lockName()), grant, at(r.call.Time))
	switch {
	case sc.held != nil && r.end != nil && r.end.Type == history.OK:
		return text + fmt.Sprintf(", was held back by \"%s\" (%s to %s) and answered ok at %s: it may have freed the lock while %s held it.", sc.held.text, at(sc.held.from), at(sc.held.to), at(r.end.Time), holders(sc)[0])
	case sc.held != nil:
		return text + fmt.Sprintf(", was held back by \"%s\" (%s to %s). When that ended it may have arrived, and freed the lock of %s.", sc.held.text, at(sc.held.from), at(sc.held.to), holders(sc)[0])
	case r.end != nil && r.end.Type == history.OK:
		return text + fmt.Sprintf(", was answered ok at %s: it may have freed the lock while %s held it.", at(r.end.Time), holders(sc)[0])
	}
	return text + fmt.Sprintf(", got no answer: it may have arrived later, while %s held the lock.", holders(sc)[0])
}

func (s *scene) lockName() string {
	if s.release.call.Lock != "" || len(s.grants) == 0 {
		return s.release.call.Lock
	}
	return s.grants[0].lock
}

func (s *Story) faultCause(f *fault) string {
	for _, g := range s.scene.grants {
		if f.stops(g.client) && g.granted != never && g.leaseEnd != never && f.from < g.leaseEnd && f.to > g.leaseEnd && (g.stop == never || f.from < g.stop) {
			if f.to == never {
				return fmt.Sprintf("The pause of %s did not end before its lease did.", g.client)
			}
			return fmt.Sprintf("The pause of %s (%s) outlasted its lease, which had %s left when it began.", g.client, long(f.to-f.from), long(g.leaseEnd-f.from))
		}
	}
	text := fmt.Sprintf("%s, from %s", capital(f.text), at(f.from))
	if s.scene.before {
		return fmt.Sprintf("%s to %s: it had ended before this began; what it had held back may have arrived then.", text, at(f.to))
	}
	if f.to == never {
		return text + " on."
	}
	return fmt.Sprintf("%s to %s.", text, at(f.to))
}
