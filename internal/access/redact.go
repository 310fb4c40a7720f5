package access

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
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

// NewRedactor knows the values as they are, and as they look in JSON, in URLs and in a header.
func NewRedactor(secrets ...Secret) Redactor {
	var forms []string
	for _, s := range secrets {
		if s.value == "" {
			continue
		}
		quoted, _ := json.Marshal(s.value) // a string always can
		forms = append(forms, s.value, strings.Trim(string(quoted), `"`), url.QueryEscape(s.value), url.PathEscape(s.value),
			url.UserPassword("", s.value).String()[1:], base64.StdEncoding.EncodeToString([]byte(s.value)), strings.Trim(fmt.Sprintf("%q", s.value), `"`))
	}
	if len(forms) == 0 {
		return Redactor{}
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) }) // where one begins another, the longer is meant
	var pairs []string
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, mask)
	}
	return Redactor{strings.NewReplacer(pairs...)}
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
