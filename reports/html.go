package reports

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/locktest/locktest/runner"
)

// HTMLFile is the report's name in a run's folder.
const HTMLFile = "report.html"

// DefaultHTMLOperations is how many operations a page has at most, unless it is asked for more.
const DefaultHTMLOperations = 1_000_000

// HTMLOptions say what a page has beside the outcome.
type HTMLOptions struct {
	Max    int                 // operations; above it the page says so. 0: DefaultHTMLOperations
	Folder Folder              // what lies beside the history
	Redact func(string) string // takes secrets out of texts; nil: there are none
}

//go:embed assets
var assets embed.FS

// scripts are the parts of the page's only script, in their order.
func scripts() []string {
	return []string{"data.js", "time.js", "draw.js", "lanes.js", "panels.js", "table.js", "main.js"}
}

// HTML returns the reporter of a page that stands for itself: one file with its own style and script, from which no
// request leaves. What matters is in it as text and pictures; its script adds the whole run and the table of operations.
func HTML(options HTMLOptions) Reporter {
	return func(w io.Writer, o *runner.Outcome) error {
		if options.Max <= 0 {
			options.Max = DefaultHTMLOperations
		}
		if options.Redact == nil {
			options.Redact = func(s string) string { return s }
		}
		p := &htmlPage{o: o, options: options, style: asset("style.css"), script: script()}
		return p.write(w)
	}
}

type htmlPage struct {
	o             *runner.Outcome
	options       HTMLOptions
	style, script string
}

// write writes the page piece by piece. Secrets are taken out of its text alone: in the style, the script or the packed
// operations a chance match would break what it means.
func (p *htmlPage) write(w io.Writer) error {
	t, err := template.New("page").ParseFS(assets, "assets/page.html")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	view := newHTMLView(p.o, p.options)
	var head, body bytes.Buffer
	if err := t.ExecuteTemplate(&head, "head", map[string]string{"Title": view.Title, "Style": hashOf(p.style), "Script": hashOf(p.script)}); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := t.ExecuteTemplate(&body, "body", view); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	pieces := []string{p.options.Redact(head.String()), "<style>", p.style, "</style>\n</head>\n", p.options.Redact(body.String())}
	if view.ops != nil {
		facts, err := json.Marshal(view.facts) // its < > and & are escaped: nothing in it ends the element
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		packed, err := view.ops.pack()
		if err != nil {
			return err
		}
		pieces = append(pieces, `<script type="application/json" id="facts">`, p.options.Redact(string(facts)), "</script>\n",
			`<script type="application/octet-stream" id="operations">`, base64.StdEncoding.EncodeToString(packed), "</script>\n",
			"<script>", p.script, "</script>\n")
	}
	for _, piece := range append(pieces, "</body>\n</html>\n") {
		if _, err := io.WriteString(w, piece); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}

func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is compiled in
	}
	return string(b)
}

func script() string {
	var b strings.Builder
	b.WriteString("(() => {\n\"use strict\";\n")
	for _, name := range scripts() {
		b.WriteString(asset(name))
	}
	b.WriteString("})();\n")
	return b.String()
}

// hashOf is the source expression by which a content security policy allows exactly this text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
