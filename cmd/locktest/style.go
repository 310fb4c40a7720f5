package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/locktest/locktest/reports"
)

// style decides how text for w may look.
func (a *app) style(w io.Writer) reports.Style {
	s := reports.Style{ASCII: a.ascii || !unicodeLocale(), Color: a.colored(w), Width: 80}
	if f := underlying(w); f != nil {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			s.Width = width
		}
	}
	return s
}

func (a *app) colored(w io.Writer) bool {
	switch {
	case a.color == "always":
		return true
	case a.color == "never":
		return false
	case os.Getenv("FORCE_COLOR") != "" && os.Getenv("FORCE_COLOR") != "0", os.Getenv("CLICOLOR_FORCE") != "" && os.Getenv("CLICOLOR_FORCE") != "0":
		return true
	}
	return terminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func terminal(w io.Writer) bool {
	f := underlying(w)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// unicodeLocale is true unless the environment names another encoding: most that name none can show it.
func unicodeLocale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8") || v == "c" || v == "posix"
		}
	}
	return true
}

// moving says whether a display may be drawn in place.
func (a *app) moving() bool {
	return terminal(a.stderr) && !a.noProgress && !a.quiet && os.Getenv("CI") == "" && os.Getenv("TERM") != "dumb"
}

// log is the harness's own: warnings, and with --verbose what it does.
func (a *app) log() *slog.Logger {
	level := slog.LevelWarn
	if a.verbose {
		level = slog.LevelDebug
	}
	if a.quiet {
		level = slog.LevelError
	}
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: level}))
}

// number is n of a noun.
func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
