package reports

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Problem is an error as it is told to people.
type Problem struct {
	Code    string   // LT101; empty: none
	Message string   // one sentence without a full stop
	Details []string // "looked in: …"
	Fix     []string // what to do; one of them is enough
}

// Telling is an error that can say more than one line, such as one about the environment.
type Telling interface {
	error
	Tell() (code, message string, details, fix []string)
}

// Explain makes a Problem of any error. What was being done stands before the message of a Telling that it wraps.
func Explain(err error) Problem {
	var t Telling
	if !errors.As(err, &t) {
		return Problem{Message: err.Error()}
	}
	p := Problem{}
	p.Code, p.Message, p.Details, p.Fix = t.Tell()
	p.Details = append(slices.Clone(p.Details), around(err.Error(), t.Error())...)
	return p
}

// around is what an error says beside the one that it wraps: what was being done, or what else went wrong.
func around(all, inner string) []string {
	if doing, ok := strings.CutSuffix(all, ": "+inner); ok && !strings.Contains(doing, "\n") {
		return []string{"while: " + doing}
	}
	var out []string
	rest := strings.ReplaceAll(all, inner, "")
	for _, l := range strings.Split(rest, "\n") {
		if l = strings.Trim(l, " :"); l != "" {
			out = append(out, "also: "+l)
		}
	}
	return out
}

// WriteError writes an error in the form in which all of them are told.
func WriteError(w io.Writer, err error, style Style) error {
	return WriteProblem(w, Explain(err), style)
}

// WriteProblem writes one problem: message, details, and what to do.
func WriteProblem(w io.Writer, problem Problem, style Style) error {
	p := &page{style: style}
	head := "error"
	if problem.Code != "" {
		head += " " + problem.Code
	}
	p.line(p.paint(colorBad, head) + ": " + p.paint(colorName, clean(problem.Message)))
	for _, d := range problem.Details {
		p.detail(d)
	}
	switch len(problem.Fix) {
	case 0:
	case 1:
		p.line("   = fix: " + clean(problem.Fix[0]))
	default:
		p.line("   = fix, one of:")
		for _, f := range problem.Fix {
			p.line("       " + clean(f))
		}
	}
	return p.flush(w)
}

// detail writes one, of several lines where it quotes a log: those stand indented.
func (p *page) detail(text string) {
	for i, l := range splitLines(text) {
		if i == 0 {
			p.line("   = " + clean(l))
		} else {
			p.line("       " + clean(l))
		}
	}
}

// Summary is the last line of a command that started nothing: "locktest: 3 errors in 1 file; nothing was started".
func Summary(w io.Writer, what string) error {
	_, err := fmt.Fprintf(w, "locktest: %s; nothing was started\n", what)
	return err
}
