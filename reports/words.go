package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/locktest/locktest/checker"
)

// at writes a moment of a run: seconds with three decimals.
func at(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// long writes a length of time in a sentence, as the checkers do, so that one length has one number.
func long(d time.Duration) string {
	switch {
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3f s", d.Seconds())
	case d > 0:
		return strings.Replace(d.Round(100*time.Nanosecond).String(), "µs", " µs", 1)
	}
	return "0 s"
}

// short writes a measured duration for a table.
func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond))
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}

// grouped writes an integer with a blank between thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") {
		return grouped(n) + " " + strings.TrimSuffix(noun, "y") + "ies"
	}
	return grouped(n) + " " + noun + "s"
}

// percent writes a share and never rounds up to 100 % or down to 0 %.
func percent(share float64) string {
	p := share * 100
	switch {
	case p <= 0:
		return "0 %"
	case p >= 100:
		return "100 %"
	case p > 99.9:
		return fmt.Sprintf("%.2f %%", min(math.Floor(p*100)/100, 99.99))
	}
	return fmt.Sprintf("%.1f %%", max(p, 0.1))
}

// plain is a property's id as words: "mutual exclusion"; a kind follows in brackets. What coverage judges is the evidence.
func plain(property string) string {
	id, kind, ok := strings.Cut(displayed(property), "/")
	id = strings.ReplaceAll(id, "-", " ")
	if id == "re entrancy" || id == "read write" {
		id = strings.ReplaceAll(id, " ", "-")
	}
	if ok {
		id += " (" + strings.ReplaceAll(kind, "-", " ") + ")"
	}
	return id
}

// displayed is a property's id, by the word that the screen has for it.
func displayed(property string) string {
	if property == checker.Coverage {
		return "evidence"
	}
	return property
}

// word is a verdict as reports show it.
func word(v checker.Verdict) string {
	switch v {
	case checker.NotApplicable:
		return "n/a"
	case checker.Violated:
		return "VIOLATED"
	}
	return v.String()
}

// joined joins words as a sentence does.
func joined(words []string) string {
	switch len(words) {
	case 0:
		return "nobody"
	case 1:
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func sentence(s string) string {
	s = strings.TrimSpace(clean(s))
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

func splitLines(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }
