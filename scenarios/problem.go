package scenarios

import (
	"fmt"
	"slices"
	"strings"
)

// Severity says what a problem means for the file.
type Severity uint8

const (
	Error   Severity = iota // the scenario cannot be run
	Warning                 // it can, but it may show less than it seems to
)

func (s Severity) String() string { return [...]string{"error", "warning"}[s] }

// MarshalText writes the word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Place is a piece of a line, with what is to be said about it.
type Place struct {
	Pos
	Text  string // the whole line
	Len   int    // of the piece, in characters; at least 1
	Label string
}

// Problem is one mistake in a scenario, told once.
type Problem struct {
	Code     string // a key of Codes
	Severity Severity
	Message  string // one sentence
	Place    Place
	Related  *Place // what it contradicts
	So       string // what follows, where that isn't plain
	Fix      string // only where it is certain
	All      []string
}

// Problems are all that is wrong with a file, in the order of its lines.
type Problems []Problem

// Failed says whether one of them is an error.
func (p Problems) Failed() bool {
	return slices.ContainsFunc(p, func(q Problem) bool { return q.Severity == Error })
}

// Errors returns those that keep the scenario from being run.
func (p Problems) Errors() Problems {
	return slices.DeleteFunc(slices.Clone(p), func(q Problem) bool { return q.Severity != Error })
}

// Strict returns the problems with each warning turned into an error.
func (p Problems) Strict() Problems {
	out := slices.Clone(p)
	for i := range out {
		out[i].Severity = Error
	}
	return out
}

// Unique returns each problem once, for files that were read more than once.
func (p Problems) Unique() Problems {
	seen := map[string]bool{}
	var out Problems
	for _, q := range p {
		key := fmt.Sprint(q.Place, q.Severity, q.Code, q.Message)
		if !seen[key] {
			seen[key] = true
			out = append(out, q)
		}
	}
	return out
}

// Error makes Problems an error: one line for each.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, q := range p {
		lines[i] = fmt.Sprintf("%s: %s %s: %s", q.Place.Pos, q.Severity, q.Code, q.Message)
	}
	return strings.Join(lines, "\n")
}

func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

func (p Problems) sort() {
	slices.SortStableFunc(p, func(a, b Problem) int {
		if a.Place.Line != b.Place.Line {
			return a.Place.Line - b.Place.Line
		}
		return a.Place.Column - b.Place.Column
	})
}
