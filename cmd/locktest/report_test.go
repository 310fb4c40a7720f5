package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/reports"
	"github.com/locktest/locktest/runner"
)

// violating is the command that runs a lock that grants to everyone.
func violating(t *testing.T) []string {
	t.Helper()
	return []string{"run", scenario(t, everyone)}
}

// ran makes a run with a violation and returns its folder.
func ran(t *testing.T) (dir string, r result) {
	t.Helper()
	root := t.TempDir()
	r = locktest(t, append(violating(t), "--run-dir", root)...)
	return filepath.Join(root, "latest"), r
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRunWritesItsPage(t *testing.T) {
	dir, r := ran(t)
	if r.status != runner.ExitViolated || !regexp.MustCompile(`(?m)^  report   \S+/report\.html$`).MatchString(r.stdout) {
		t.Errorf("status %d\n%s", r.status, r.stdout)
	}
	page := read(t, filepath.Join(dir, reports.HTMLFile))
	for _, want := range []string{"VIOLATED", "What happened", "version: 1", `id="operations"`, "</html>"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q isn't on the page", want)
		}
	}
}

// TestPageThatCannotBeMade: a mistake in the page costs the page, a line says so, and nothing else changes.
func TestPageThatCannotBeMade(t *testing.T) {
	_, good := ran(t)
	root := t.TempDir()
	var out, errs bytes.Buffer
	a := &app{stdout: &out, stderr: &errs, page: func(reports.HTMLOptions) reports.Reporter {
		return func(w io.Writer, _ *runner.Outcome) error { io.WriteString(w, "half"); panic("a mistake") }
	}}
	command := a.root()
	command.SetArgs(append(violating(t), "--run-dir", root, "-o", "html="+filepath.Join(root, "other.html")))
	if err := command.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a.exit != good.status || a.exit != runner.ExitViolated {
		t.Errorf("status %d, with its page %d", a.exit, good.status)
	}
	if n := strings.Count(errs.String(), "report.html is missing: the report could not be written, which is a bug of locktest: a mistake"); n != 1 || !strings.Contains(errs.String(), "the html report is missing") {
		t.Errorf("standard error: %s", errs.String())
	}
	first := func(s string) string { l, _, _ := strings.Cut(s, "\n"); return l }
	if first(out.String()) != first(good.stdout) || strings.Contains(out.String(), "report.html") {
		t.Errorf("the screen says\n%s\nand with a page\n%s", out.String(), good.stdout)
	}
	text := read(t, filepath.Join(root, "latest", runner.ResultFile))
	if !strings.Contains(text, `"exit": 1`) || !strings.Contains(text, `"word": "VIOLATED"`) || !json.Valid([]byte(text)) {
		t.Errorf("result.json: %s", text)
	}
	if left, _ := filepath.Glob(filepath.Join(root, "latest", "*report.html*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestReportCommand(t *testing.T) {
	dir, _ := ran(t)
	written := read(t, filepath.Join(dir, reports.HTMLFile))
	if err := os.Remove(filepath.Join(dir, reports.HTMLFile)); err != nil {
		t.Fatal(err)
	}
	r := locktest(t, "report", dir, "--cross-check", "off")
	if r.status != 0 || !strings.HasSuffix(r.stdout, "/report.html\n") {
		t.Fatalf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
	again := read(t, filepath.Join(dir, reports.HTMLFile))
	banner := func(page string) string {
		_, page, _ = strings.Cut(page, "<h1>")
		page, _, _ = strings.Cut(page, "</header>")
		return page
	}
	if banner(again) != banner(written) || banner(again) == "" {
		t.Errorf("the banner was\n%s\nand is\n%s", banner(written), banner(again))
	}
	other := filepath.Join(t.TempDir(), "deep", "page.html")
	if r := locktest(t, "report", dir, "-o", other, "--report-max", "1", "--json", "--cross-check", "off"); r.status != 0 || !strings.Contains(r.stdout, `"report": "`+filepath.ToSlash(other)) {
		t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
	if page := read(t, other); !strings.Contains(page, "operations and events are in this page") {
		t.Error("the page doesn't say that it leaves something out")
	}
	t.Setenv("CI", "true")
	if r := locktest(t, "report", dir, "--open", "--cross-check", "off"); r.status != 0 || !strings.Contains(r.stderr, "nothing is opened where CI is set") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
}

func TestReportOfAForeignHistory(t *testing.T) {
	path := file(t, "mutex.edn", "{:type :invoke, :f :acquire, :process 0, :time 1000}\n{:type :ok, :f :acquire, :process 0, :time 2000}\n")
	if r := locktest(t, "report", path, "--expiry", "none"); r.status != 0 || r.stdout != filepath.ToSlash(path)+".html\n" {
		t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
	if page := read(t, path+".html"); !strings.Contains(page, "INCONCLUSIVE") {
		t.Error("the page has no verdict")
	}
}

func TestReportMistakes(t *testing.T) {
	dir, _ := ran(t)
	taken := filepath.Join(t.TempDir(), "taken")
	if err := os.WriteFile(taken, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		status int
		words  string
		args   []string
	}{
		"no such run":             {exitUsage, "there is no file and no run", []string{"ffff", "--run-dir", t.TempDir()}},
		"open and serve":          {exitUsage, "exclude each other", []string{dir, "--open", "--serve"}},
		"nothing on the page":     {exitUsage, "--report-max 0", []string{dir, "--report-max", "0"}},
		"below what is no folder": {exitUsage, "the page is missing", []string{dir, "-o", filepath.Join(taken, "page.html"), "--cross-check", "off"}},
	} {
		t.Run(name, func(t *testing.T) {
			if r := locktest(t, append([]string{"report"}, c.args...)...); r.status != c.status || !strings.Contains(r.stderr, c.words) {
				t.Errorf("status %d, expected %d: %s", r.status, c.status, r.stderr)
			}
		})
	}
}

func TestServedPage(t *testing.T) {
	path := file(t, "page.html", "<!DOCTYPE html><title>it</title>")
	handler := onePage(path, "127.0.0.1:8123")
	for name, c := range map[string]struct {
		method, host, path string
		status             int
	}{
		"the page":           {"GET", "127.0.0.1:8123", "/", http.StatusOK},
		"by the name":        {"HEAD", "localhost:8123", "/", http.StatusOK},
		"another file":       {"GET", "127.0.0.1:8123", "/result.json", http.StatusNotFound},
		"a way out":          {"GET", "127.0.0.1:8123", "/../page.html", http.StatusNotFound},
		"somebody's name":    {"GET", "evil.example:8123", "/", http.StatusForbidden},
		"something to write": {"POST", "127.0.0.1:8123", "/", http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, "http://"+c.host+"/", nil)
			r.URL.Path = c.path
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != c.status || c.method == "GET" && c.status == http.StatusOK && !strings.Contains(w.Body.String(), "<title>it") {
				t.Errorf("status %d, expected %d: %s", w.Code, c.status, w.Body)
			}
		})
	}
}

// TestServing serves until it is told to end.
func TestServing(t *testing.T) {
	dir, _ := ran(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pipe, errs := io.Pipe()
	var out bytes.Buffer
	status := make(chan int, 1)
	go func() {
		status <- execute(ctx, []string{"report", dir, "--serve", "--cross-check", "off"}, &out, errs)
		errs.Close()
	}()
	text := make([]byte, 200)
	n, err := pipe.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, pipe)
	url := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(string(text[:n]))
	r, err := http.Get(url)
	if err != nil {
		t.Fatalf("%s: %v", text[:n], err)
	}
	defer r.Body.Close()
	page, err := io.ReadAll(r.Body)
	if err != nil || !strings.Contains(string(page), "</html>") || r.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d bytes, %v", len(page), err)
	}
	cancel()
	select {
	case s := <-status:
		if s != 0 {
			t.Errorf("status %d", s)
		}
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
}
