package main

import (
	"io"
	"os"

	"github.com/locktest/locktest/internal/access"
	"github.com/locktest/locktest/runner"
)

// keepSecrets lets nothing of what enters the servers of these plans be written from now on.
func (a *app) keepSecrets(plans []*runner.Plan) {
	for _, p := range plans {
		if r := p.Access.Redactor(); !r.None() {
			a.secrets = append(a.secrets, r)
			a.stdout, a.stderr = r.Writer(a.stdout), r.Writer(a.stderr)
		}
	}
}

// discreet is w without secrets.
func (a *app) discreet(w io.Writer) io.Writer {
	for _, r := range a.secrets {
		w = r.Writer(w)
	}
	return w
}

// discreetText is text without secrets.
func (a *app) discreetText(text string) string {
	for _, r := range a.secrets {
		text = r.Text(text)
	}
	return text
}

// underlying is what w writes to in the end; nil where that is no file.
func underlying(w io.Writer) *os.File {
	f, _ := access.Underlying(w).(*os.File)
	return f
}
