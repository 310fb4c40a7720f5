package scenarios

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
)

// syntaxProblem tells why a file is not YAML. A parser stops where it can't go on; the mistake is often a line further or
// before, so the common ones are looked for here.
func syntaxProblem(s *source, err error) *Problem {
	var e yaml.Error
	if !errors.As(err, &e) || e.GetToken() == nil {
		return &Problem{Code: CodeSyntax, Message: firstLine(err.Error()), Place: s.place(1, 1, 1)}
	}
	pos := e.GetToken().Position
	p := &Problem{
		Code: CodeSyntax, Message: "this is not YAML: " + readable(e.GetMessage()),
		Place: labelled(s.place(pos.Line, pos.Column, utf8.RuneCountInString(firstLine(e.GetToken().Value))), "here"),
	}
	switch message := e.GetMessage(); {
	case strings.Contains(message, "'\t'"):
		p.Fix = "indent with spaces, not with tabs"
	case strings.Contains(message, "is not allowed in this context"):
		s.explain(p, strings.Contains(message, "mapping value"))
	}
	return p
}

// explain finds the line that is wrong where a key or a value stands where none may.
// asKey: it is a key.
func (s *source) explain(p *Problem, asKey bool) {
	line := p.Place.Line
	if key, value, ok := keyed(s.lines[line-1]); ok && unquotedColon(value) {
		p.Message = fmt.Sprintf("this is not YAML: the value of %q contains ': '", key)
		p.Fix = fmt.Sprintf("quote it: %s: %q", key, value)
		return
	}
	if next := s.following(line); asKey && next > 0 && indent(s.lines[next-1]) > indent(s.lines[line-1]) {
		s.tooDeep(p, line, next)
		return
	}
	if before := s.preceding(line); before > 0 && indent(s.lines[line-1]) != indent(s.lines[before-1]) {
		s.point(p, line, "does not line up")
		p.Message = "this is not YAML: this line is indented like nothing above it"
		p.Fix = fmt.Sprintf("indent it as far as what it belongs beside, such as %q above (%s)", word(s.lines[before-1]), plural(indent(s.lines[before-1]), "space"))
	}
}

// tooDeep tells of a line that is indented below one that has a value already.
func (s *source) tooDeep(p *Problem, line, next int) {
	above := word(s.lines[line-1])
	s.point(p, next, "indented under a value")
	p.Message = fmt.Sprintf("this is not YAML: %q has a value, so nothing can stand under it", above)
	p.Fix = fmt.Sprintf("indent it as far as %q (%s), or write what stands behind %s: as keys under it", above, plural(indent(s.lines[line-1]), "space"), above)
}

func (s *source) point(p *Problem, line int, label string) {
	text := s.lines[line-1]
	from := len(text) - len(strings.TrimLeft(text, " -"))
	p.Place = labelled(s.place(line, from+1, utf8.RuneCountInString(word(text))), label)
}

// following and preceding skip empty lines and comments; 0: there is none.
func (s *source) following(line int) int {
	for n := line + 1; n <= len(s.lines); n++ {
		if !empty(s.lines[n-1]) {
			return n
		}
	}
	return 0
}

func (s *source) preceding(line int) int {
	for n := line - 1; n > 0; n-- {
		if !empty(s.lines[n-1]) {
			return n
		}
	}
	return 0
}

func empty(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, "#")
}

// indent is where the first key of a line stands, behind the dash of an entry.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " -")) }

// word is the first key of a line, or its text.
func word(line string) string {
	if key, _, ok := keyed(line); ok {
		return key
	}
	return strings.TrimLeft(strings.TrimSpace(line), "- ")
}

var keyLine = regexp.MustCompile(`^[ -]*([^\s:'"{\[][^:]*):(?: +(.*))?$`)

// keyed takes a line with a key apart.
func keyed(line string) (key, value string, ok bool) {
	m := keyLine.FindStringSubmatch(strings.TrimRight(line, " "))
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

func unquotedColon(value string) bool {
	return strings.Contains(value, ": ") && !strings.ContainsAny(value[:1], `'"{[|>#`)
}

// readable keeps a parser's words but shows control characters as escapes.
func readable(s string) string {
	return strings.ReplaceAll(firstLine(strings.ReplaceAll(s, "\t", `\t`)), "\r", "")
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
