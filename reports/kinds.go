package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

// kind is all that was found of one kind of violation.
type kind struct {
	name           string
	firm, doubtful int // doubtful: under clocks or stalls, which the tables leave out
	first          time.Duration
	message        string // of the first
}

// numbersOf names the numbers that count all findings of a kind, where only the first findings are kept.
func numbersOf(kind string) string {
	switch kind {
	case checker.DoubleGrant:
		return "double_grants"
	case checker.StaleHolder:
		return "stale_holders"
	case checker.StaleWrite:
		return "stale_writes"
	case checker.LostUpdate:
		return "lost_updates"
	}
	return ""
}

// kindsOf counts what violates a property by kind, in the order in which each first came. rest is how many more there
// are whose kind is not known.
func kindsOf(h *history.History, r checker.Result) (out []*kind, rest int) {
	by := map[string]*kind{}
	for _, f := range r.Findings {
		k := by[f.Kind]
		if k == nil {
			k = &kind{name: f.Kind, first: never}
			by[f.Kind] = k
			out = append(out, k)
		}
		if f.Strength == checker.UnderClocks || f.Strength == checker.UnderStall {
			k.doubtful++
		} else {
			k.firm++
		}
		if at := moment(h, &f); at < k.first {
			k.first, k.message = at, f.Message
		}
	}
	rest = r.Count - len(r.Findings)
	for _, k := range out {
		if n := int(r.Numbers[numbersOf(k.name)]); rest > 0 && n > k.firm {
			rest -= n - k.firm
			k.firm = n
		}
	}
	return out, max(rest, 0)
}

// kinds lists every kind of a violated property with its number and its first time: what the story doesn't tell, with its
// first message.
func (s *screen) kinds(r checker.Result) {
	told := s.ordered()[0].Incidents[0]
	kinds, rest := kindsOf(s.o.History, r)
	var brief, full []string
	for _, k := range kinds {
		known := told.has(r.Property, k.name) || s.excused(r.Property, k)
		if line := k.line(known); line != "" && known {
			brief = append(brief, line)
		} else if line != "" {
			full = append(full, line)
		}
	}
	if rest > 0 {
		brief = append(brief, grouped(rest)+" more, counted but not kept one by one")
	}
	if len(brief) > 0 {
		s.wrapped("    ", strings.Join(brief, "; "))
	}
	for _, line := range full {
		s.wrapped("    ", line)
	}
}

// excused says whether the scenario expects or accepts a kind that came more than once: then its number is enough.
func (s *screen) excused(property string, k *kind) bool {
	return k.firm+k.doubtful > 1 && slices.ContainsFunc(slices.Concat(s.o.Conclusion.Accepted, s.o.Conclusion.Expected), func(c runner.Condition) bool {
		return c.Property == property || c.Property == property+"/"+k.name
	})
}

func (k *kind) line(told bool) string {
	if told && k.firm+k.doubtful == 1 {
		return ""
	}
	text := fmt.Sprintf("%s × %s", grouped(k.firm), strings.ReplaceAll(k.name, "-", " "))
	switch {
	case k.firm == 0:
		text = fmt.Sprintf("%s doubtful × %s", grouped(k.doubtful), strings.ReplaceAll(k.name, "-", " "))
	case k.doubtful > 0:
		text += fmt.Sprintf(" (and %s doubtful)", grouped(k.doubtful))
	}
	if k.firm+k.doubtful > 1 {
		text += ", first at " + at(k.first)
	}
	if !told {
		text += ": " + k.message
	}
	return text
}
