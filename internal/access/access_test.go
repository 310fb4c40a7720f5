package access_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locktest/locktest/internal/access"
)

const password = `p"w/ö d&1`

func open(t *testing.T) access.Access {
	t.Helper()
	t.Setenv("SOME_PASSWORD", password)
	a, err := access.Spec{User: "u", PasswordEnv: "SOME_PASSWORD"}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestPasswords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	for name, c := range map[string]struct {
		spec access.Spec
		env  string
		text string // of the file
		want string
		err  string
	}{
		"none":                   {},
		"of a variable":          {spec: access.Spec{PasswordEnv: "SOME_PASSWORD"}, env: "right", want: "right"},
		"of a file":              {spec: access.Spec{PasswordFile: file}, text: "right one\n", want: "right one"},
		"a variable not set":     {spec: access.Spec{PasswordEnv: "SOME_PASSWORD"}, err: "SOME_PASSWORD, which is not set"},
		"a file of two lines":    {spec: access.Spec{PasswordFile: file}, text: "secret one\ntwo\n", err: "has not one line"},
		"a file with nothing":    {spec: access.Spec{PasswordFile: file}, text: "\n", err: "has not one line"},
		"a file that isn't":      {spec: access.Spec{PasswordFile: file + ".not"}, err: "no such file"},
		"both":                   {spec: access.Spec{PasswordFile: file, PasswordEnv: "SOME_PASSWORD"}, err: "from a variable and from a file"},
		"too short to be hidden": {spec: access.Spec{PasswordEnv: "SOME_PASSWORD"}, env: "abc", err: "fewer than 4"},
		"half a certificate":     {spec: access.Spec{Cert: file}, err: "come together"},
		"a CA that is none":      {spec: access.Spec{CA: file}, text: "no PEM\n", err: "has none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("SOME_PASSWORD", c.env)
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			a, err := c.spec.Open()
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("Open() = %v, want %q", err, c.err)
			}
			if err != nil && strings.Contains(err.Error(), "secret one") {
				t.Errorf("the error tells the password: %v", err)
			}
			if a.Password.Reveal() != c.want {
				t.Errorf("password %q, want %q", a.Password.Reveal(), c.want)
			}
		})
	}
}

// No way of printing an Access shows the password.
func TestNothingShowsIt(t *testing.T) {
	a := open(t)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "access", a, "password", a.Password)
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "access", a, "password", a.Password)
	doc, err := json.Marshal(map[string]any{"a": a, "p": a.Password})
	if err != nil {
		t.Fatal(err)
	}
	text := log.String() + string(doc) + fmt.Sprintf("%v %+v %#v %s %q %x %v", a, a, a, a.Password, a.Password, a.Password, &a)
	for _, form := range []string{password, `p\"w`, "ö", fmt.Sprintf("%x", password)} {
		if strings.Contains(text, form) {
			t.Errorf("%q is in\n%s", form, text)
		}
	}
	if !strings.Contains(text, "***") {
		t.Error("nothing stands for it")
	}
}

func TestRedactor(t *testing.T) {
	a := open(t)
	r := a.Redactor()
	quoted, _ := json.Marshal(password)
	for _, form := range []string{password, string(quoted), "p%22w%2F%C3%B6+d%261", "p%22w%2F%C3%B6%20d&1", "cCJ3L8O2IGQmMQ==", fmt.Sprintf("%q", password)} {
		if got := r.Text("<" + form + ">"); strings.Contains(got, "w") || !strings.Contains(got, "***") {
			t.Errorf("%q became %q", form, got)
		}
	}
	var b bytes.Buffer
	if n, err := r.Writer(&b).Write([]byte("a " + password + " b")); n != len("a "+password+" b") || err != nil || b.String() != "a *** b" {
		t.Errorf("wrote %d, %v: %q", n, err, b.String())
	}
	inner := fmt.Errorf("with %s: %w", password, fs.ErrNotExist)
	if err := r.Error(inner); err.Error() != "with ***: file does not exist" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	none := access.Access{}.Redactor()
	if !none.None() || none.Text(password) != password || none.Error(nil) != nil {
		t.Error("a redactor of nothing changes texts")
	}
}

// A page, XML and Markdown write what has a meaning in them otherwise, and also what is in another form already.
func TestRedactorInDocuments(t *testing.T) {
	const value = "h\"'<>&+_*[@|`\\%:,{}/x"
	t.Setenv("SOME_PASSWORD", value)
	a, err := access.Spec{PasswordEnv: "SOME_PASSWORD"}.Open()
	if err != nil {
		t.Fatal(err)
	}
	r := a.Redactor()
	page := template.Must(template.New("").Parse(`<p>{{.}}</p>`))
	attribute := template.Must(template.New("").Parse(`<p title="{{.}}"></p>`))
	for _, inner := range []string{value, fmt.Sprintf("%q", value), url.QueryEscape(value), base64.StdEncoding.EncodeToString([]byte(value))} {
		var x, p, at bytes.Buffer
		if err := errors.Join(xml.EscapeText(&x, []byte(inner)), page.Execute(&p, inner), attribute.Execute(&at, inner)); err != nil {
			t.Fatal(err)
		}
		quoted, _ := json.Marshal(inner)
		for _, form := range []string{inner, html.EscapeString(inner), template.HTMLEscapeString(inner), x.String(), p.String(), at.String(), string(quoted)} {
			got := r.Text(form)
			if strings.Count(got, "***") != 1 || len(got) > len(`<p title="&#34;***&#34;"></p>`) {
				t.Errorf("%s became %s", form, got)
			}
		}
	}
}

func TestLines(t *testing.T) {
	for in, want := range map[string]string{
		"redis://u:secret@h:1":                      "redis://********@h:1",
		`endpoints: ["redis://:secret@h:6379"]`:     `endpoints: ["redis://*******@h:6379"]`,
		"u:secret@h:1":                              "********@h:1",
		"h:1, i:2":                                  "h:1, i:2",
		"cluster: { password: hunter22, nodes: 1 }": "cluster: { password: ********, nodes: 1 }",
		"cluster.password=hunter22":                 "cluster.password=********",
		"password-env: REDIS_PASSWORD":              "password-env: REDIS_PASSWORD",
		"at: 4s, for: 6s, to: me@home":              "at: 4s, for: 6s, to: me@home",
	} {
		if got := access.Line(in); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}
