package reports

import (
	"io"
	"strings"
)

// Article is a page that explains one word.
type Article struct {
	Title string
	Kind  string   // what the word is; empty: it isn't said
	Also  []string // other words for it
	Text  []string // paragraphs
	See   []string
}

// Write writes the page, in lines that fit the style's width.
func (a *Article) Write(w io.Writer, style Style) error {
	p := &page{style: style}
	title := p.paint(colorName, a.Title)
	if a.Kind != "" {
		title += "   (" + a.Kind + ")"
	}
	p.line(title)
	if len(a.Also) > 0 {
		p.wrapped("  also: ", strings.Join(a.Also, ", "))
	}
	for _, text := range a.Text {
		p.wrapped("  ", text)
	}
	if len(a.See) > 0 {
		p.wrapped("  see: ", strings.Join(a.See, ", "))
	}
	return p.flush(w)
}
