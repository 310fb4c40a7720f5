package access

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"html/template"
	"io"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// mask is what stands for a secret.
const mask = "***"

// Secret is a value that no way of printing shows.
type Secret struct{ value string }

// Reveal is the value itself: for the library that sends it.
func (s Secret) Reveal() string { return s.value }

// Empty says that there is none.
func (s Secret) Empty() bool { return s.value == "" }

func (s Secret) String() string {
	if s.value == "" {
		return ""
	}
	return mask
}

// Format holds for every verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText is for JSON, and whatever else writes texts.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue is for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Redactor takes secrets out of texts. The zero Redactor knows none, and is quick.
type Redactor struct{ replacer *strings.Replacer }

// NewRedactor knows the values as they are, as they look quoted, in URLs and in a header, and each of these as it looks in a document.
func NewRedactor(secrets ...Secret) Redactor {
	var forms []string
	for _, s := range secrets {
		if s.value == "" {
			continue
		}
		for _, form := range wireForms(s.value) {
			forms = append(forms, documentForms(form)...)
		}
	}
	if len(forms) == 0 {
		return Redactor{}
	}
	// Where one begins another, the longer is meant.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	var pairs []string
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, mask)
	}
	return Redactor{strings.NewReplacer(pairs...)}
}

// wireForms are a value as what is sent, and messages about it, have it.
func wireForms(value string) []string {
	return []string{value, inJSON(value), inQuotes(fmt.Sprintf("%q", value)), url.QueryEscape(value), url.PathEscape(value),
		url.UserPassword("", value).String()[1:], base64.StdEncoding.EncodeToString([]byte(value))}
}

// documentForms are a text as documents have it: those of package reports, whose tests compare.
func documentForms(text string) []string {
	page := html.EscapeString(text)
	var x strings.Builder
	xml.EscapeText(&x, []byte(text)) // into memory: it can't fail
	annotation := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
	return []string{text, inJSON(text), inQuotes(fmt.Sprintf("%q", text)), page, template.HTMLEscapeString(text),
		strings.ReplaceAll(page, "+", "&#43;"), // html/template's own
		x.String(), MarkdownEscaper().Replace(text), strings.ReplaceAll(text, "`", "'"),
		annotation, strings.NewReplacer(":", "%3A", ",", "%2C").Replace(annotation)}
}

func inJSON(text string) string {
	quoted, _ := json.Marshal(text) // a string always can
	return inQuotes(string(quoted))
}

func inQuotes(quoted string) string { return quoted[1 : len(quoted)-1] }

// MarkdownEscaper makes text that has no meaning in Markdown.
func MarkdownEscaper() *strings.Replacer {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "\\|", "`", "&#96;", "*", "&#42;", "_", "&#95;", "[", "&#91;", "@", "&#64;", "\\", "&#92;")
}

// None says that it knows no secret.
func (r Redactor) None() bool { return r.replacer == nil }

// Text is s without secrets.
func (r Redactor) Text(s string) string {
	if r.replacer == nil {
		return s
	}
	return r.replacer.Replace(s)
}

// Writer writes to w without secrets. What one Write has is looked at as a whole.
func (r Redactor) Writer(w io.Writer) io.Writer {
	if r.replacer == nil {
		return w
	}
	return writer{w, r}
}

type writer struct {
	w io.Writer
	r Redactor
}

func (w writer) Write(b []byte) (int, error) {
	if _, err := io.WriteString(w.w, w.r.Text(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Underlying is the writer that Writer was given, however often.
func Underlying(w io.Writer) io.Writer {
	for {
		r, ok := w.(writer)
		if !ok {
			return w
		}
		w = r.w
	}
}

// Error tells err without secrets; what it is made of can still be asked for by errors.Is and errors.As.
func (r Redactor) Error(err error) error {
	if err == nil || r.replacer == nil || r.Text(err.Error()) == err.Error() {
		return err
	}
	return redacted{err, r.Text(err.Error())}
}

type redacted struct {
	error
	text string
}

func (e redacted) Error() string { return e.text }
func (e redacted) Unwrap() error { return e.error }

var (
	userinfo = regexp.MustCompile(`[^\s"'/@:,\[\]{}]*:[^\s"'/@]+@`)
	given    = regexp.MustCompile(`(?i)(password["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s,}\]]+)`)
)

// Line is a line that somebody wrote, with what looks like a password, as in redis://name:password@host or password: word, made
// unreadable and no shorter.
func Line(s string) string {
	s = userinfo.ReplaceAllStringFunc(s, func(m string) string { return strings.Repeat("*", len([]rune(m))-1) + "@" })
	return given.ReplaceAllStringFunc(s, func(m string) string {
		key := given.FindStringSubmatch(m)[1]
		return key + strings.Repeat("*", len([]rune(m))-len([]rune(key)))
	})
}
