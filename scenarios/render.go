package scenarios

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxShown is how many problems Render shows before it counts the rest: all that a file written by hand has.
const maxShown = 50

// Render writes problems with their lines, and with escape sequences only where color says so.
func Render(w io.Writer, problems Problems, color bool) error {
	b := &strings.Builder{}
	p := painter{b, color}
	for i, q := range problems {
		if i == maxShown {
			fmt.Fprintf(b, "and %s not shown\n\n", plural(len(problems)-maxShown, "more problem"))
			break
		}
		p.problem(q)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Tally says how many errors and warnings there are in so many files: "3 errors, 2 warnings in 2 files".
func Tally(problems Problems, files int) string {
	errors, warnings := 0, 0
	for _, p := range problems {
		if p.Severity == Error {
			errors++
		} else {
			warnings++
		}
	}
	var parts []string
	if errors > 0 {
		parts = append(parts, plural(errors, "error"))
	}
	if warnings > 0 {
		parts = append(parts, plural(warnings, "warning"))
	}
	if len(parts) == 0 {
		parts = []string{"no errors"}
	}
	return strings.Join(parts, ", ") + " in " + plural(files, "file")
}

type painter struct {
	*strings.Builder
	color bool
}

const (
	bold   = "\x1b[1m"
	red    = "\x1b[1;31m"
	yellow = "\x1b[1;33m"
	blue   = "\x1b[34m"
)

func (p painter) paint(style, text string) string {
	if !p.color || text == "" {
		return text
	}
	return style + text + "\x1b[0m"
}

func (p painter) problem(q Problem) {
	style := red
	if q.Severity == Warning {
		style = yellow
	}
	gutter := len(fmt.Sprint(q.Place.Line))
	if q.Related != nil {
		gutter = max(gutter, len(fmt.Sprint(q.Related.Line)))
	}
	fmt.Fprintf(p, "%s: %s\n", p.paint(style, fmt.Sprintf("%s %s", q.Severity, q.Code)), p.paint(bold, q.Message))
	fmt.Fprintf(p, "%s %s\n", p.paint(blue, strings.Repeat(" ", gutter)+"-->"), q.Place.Pos)
	p.bar(gutter, "|", "")
	p.excerpts(gutter, style, q)
	p.bar(gutter, "|", "")
	if q.So != "" {
		p.bar(gutter, "=", "so: "+q.So)
	}
	if q.Fix != "" {
		p.bar(gutter, "=", "fix: "+q.Fix)
	}
	if len(q.All) > 0 {
		p.all(gutter, q.All)
	}
	p.WriteString("\n")
}

// excerpts shows the place and what it contradicts, in the order of the lines.
func (p painter) excerpts(gutter int, style string, q Problem) {
	r := q.Related
	if r == nil {
		p.excerpt(gutter, q.Place, "^", style, true)
		return
	}
	sameFile := r.File == q.Place.File
	switch {
	case sameFile && r.Line == q.Place.Line:
		p.excerpt(gutter, *r, "-", blue, true)
		p.excerpt(gutter, q.Place, "^", style, false)
	case sameFile && r.Line < q.Place.Line:
		p.excerpt(gutter, *r, "-", blue, true)
		p.gap(r.Line, q.Place.Line)
		p.excerpt(gutter, q.Place, "^", style, true)
	default:
		p.excerpt(gutter, q.Place, "^", style, true)
		if sameFile {
			p.gap(q.Place.Line, r.Line)
		} else {
			fmt.Fprintf(p, "%s %s\n", p.paint(blue, strings.Repeat(" ", gutter)+":::"), r.Pos)
		}
		p.excerpt(gutter, *r, "-", blue, true)
	}
}

func (p painter) gap(above, below int) {
	if below > above+1 {
		p.WriteString(p.paint(blue, ":") + "\n")
	}
}

func (p painter) excerpt(gutter int, at Place, mark, style string, withLine bool) {
	text, column, length := clip(at)
	if withLine {
		fmt.Fprintf(p, "%s %s\n", p.paint(blue, fmt.Sprintf("%*d |", gutter, at.Line)), text)
	}
	marks := strings.Repeat(mark, length)
	if at.Label != "" {
		marks += " " + at.Label
	}
	fmt.Fprintf(p, "%s %s%s\n", p.paint(blue, strings.Repeat(" ", gutter)+" |"), strings.Repeat(" ", column-1), p.paint(style, marks))
}

// clip cuts a long line around the piece that is marked, and shows control characters as spaces.
func clip(at Place) (text string, column, length int) {
	const wide = 100
	runes := []rune(at.Text)
	for i, r := range runes {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			runes[i] = ' '
		}
	}
	column, length = max(at.Column, 1), max(at.Len, 1)
	from := 0
	if len(runes) > wide && column > wide/2 {
		from = min(column-wide/2, len(runes)-1)
	}
	cut := runes[from:min(len(runes), from+wide)]
	return string(cut), column - from, max(1, min(length, wide-(column-from)+1))
}

func (p painter) bar(gutter int, mark, text string) {
	line := strings.Repeat(" ", gutter) + " " + mark
	fmt.Fprintln(p, strings.TrimRight(p.paint(blue, line)+" "+text, " "))
}

// all lists what is known, wrapped so that it fits a terminal.
func (p painter) all(gutter int, words []string) {
	const wide = 78
	mark, line := "=", "all: "
	for i, word := range words {
		if i < len(words)-1 {
			word += ", "
		}
		if gutter+3+utf8.RuneCountInString(line+word) > wide {
			p.bar(gutter, mark, line)
			mark, line = " ", "     "
		}
		line += word
	}
	p.bar(gutter, mark, line)
}
