// Package reports is how results are told: the screen at the end of a run, the story of a violation, the JSON result,
// progress, and errors. It judges nothing: what it writes follows from an outcome and its history alone, and whatever
// goes wrong here leaves verdicts and exit status as they are.
package reports

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/locktest/locktest/runner"
)

// Reporter writes an outcome in one format.
type Reporter func(w io.Writer, o *runner.Outcome) error

// Safely makes a reporter whose own mistakes cost the report and nothing else: a panic becomes an error, and nothing is
// written of what was half done.
func Safely(r Reporter) Reporter {
	return func(w io.Writer, o *runner.Outcome) (err error) {
		var b bytes.Buffer
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("the report could not be written, which is a bug of locktest: %v", p)
			}
		}()
		if err := r(&b, o); err != nil {
			return err
		}
		_, err = w.Write(b.Bytes())
		return err
	}
}

// Style says how text may look.
type Style struct {
	Color bool // with escape sequences
	ASCII bool // no box, mark or letter beyond ASCII
	Width int  // of a line in characters; 0: 80

	unbroken bool // lines are as long as their text
}

func (s Style) width() int {
	if s.unbroken {
		return math.MaxInt32
	}
	if s.Width == 0 {
		return 80
	}
	return min(max(s.Width, 60), 100)
}

// The colours, by what they mean.
const (
	colorBad   = "\x1b[1;31m"
	colorGood  = "\x1b[32m"
	colorDoubt = "\x1b[33m"
	colorFault = "\x1b[35m"
	colorName  = "\x1b[1m"
	colorReset = "\x1b[0m"
)

// page collects text in a style.
type page struct {
	strings.Builder
	style Style
}

func (p *page) paint(color, text string) string {
	if !p.style.Color || color == "" || text == "" {
		return text
	}
	return color + text + colorReset
}

// line writes one line; trailing blanks are dropped.
func (p *page) line(text string) {
	p.WriteString(strings.TrimRight(text, " ") + "\n")
}

func (p *page) blank() { p.WriteString("\n") }

// flush sends the page to w, in ASCII if the style asks for it.
func (p *page) flush(w io.Writer) error {
	text := p.String()
	if p.style.ASCII {
		text = toASCII(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// wrapped writes text between a first prefix and the width, further lines behind blanks. Whatever names it has are made harmless.
func (p *page) wrapped(first, text string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(first))
	for i, l := range wrap(clean(text), p.style.width()-len(indent)) {
		if i == 0 {
			p.line(first + l)
		} else {
			p.line(indent + l)
		}
	}
}

// wrap breaks text at blanks into lines of at most width characters, if its words allow it.
func wrap(text string, width int) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			out = append(out, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(out, line)
}

// pad fills text with blanks up to width characters.
func pad(text string, width int) string {
	if n := width - utf8.RuneCountInString(text); n > 0 {
		return text + strings.Repeat(" ", n)
	}
	return text
}

// toASCII replaces what this package draws with, and any other character beyond ASCII by a question mark.
func toASCII(text string) string {
	text = strings.NewReplacer("━", "=", "╍", "~", "·", ".", "▒", "#", "●", "o", "✗", "X", "✓", "ok", "×", "x", "…", "...", "–", "-",
		"█", "#", "░", ".", "≤", "<=", "≥", ">=", "µ", "u", "→", "->").Replace(text)
	return strings.Map(func(r rune) rune {
		if r > 0x7e {
			return '?'
		}
		return r
	}, text)
}

// clean makes text from servers and clients harmless: control characters, among them ESC, become blanks.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}
