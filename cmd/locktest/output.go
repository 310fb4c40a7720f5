package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/internal/access"
	"github.com/locktest/locktest/reports"
	"github.com/locktest/locktest/reports/prom"
)

// outputs are the reports that a command is asked for, beside the screen.
type outputs struct {
	specs  []string
	github bool
	list   []output
}

// output is one report and where it goes; "-" is standard output.
type output struct {
	kind reportKind
	path string
}

// reportKind is a line of the table of reports.
type reportKind struct {
	name  string
	alias string
	about string
	write reports.BatchReporter
	raw   bool // takes secrets out by itself; what it writes must stay as it is
}

// reportKinds lists what -o can write.
func (a *app) reportKinds() []reportKind {
	return []reportKind{
		{"text", "", "what the screen shows", reports.Each(reports.Text(reports.Style{Width: 80, ASCII: a.ascii})), false},
		{"html", "", "the page of the gravest run", a.htmlOutput, true},
		{"json", "", "what --json prints", a.writeDocument, false},
		{"junit", "", "JUnit XML, for CI servers", reports.JUnit, false},
		{"markdown", "md", "a summary of at most 200 KB", reports.Markdown, false},
		{"github", "", "annotations of GitHub Actions", reports.GitHub(inRepository), false},
		{"prometheus", "prom", "metrics as text", func(w io.Writer, b *reports.Batch) error { return prom.Text(w, catalog.Versions(), b.Outcomes) }, false},
		{"perfetto", "", "a trace for ui.perfetto.dev, of the gravest run", reports.Gravest(reports.Perfetto), false},
	}
}

func (o *outputs) flags(cmd *cobra.Command, a *app) {
	var names []string
	for _, k := range a.reportKinds() {
		names = append(names, k.name+" ("+k.about+")")
	}
	cmd.Flags().StringArrayVarP(&o.specs, "output", "o", nil, "KIND=PATH: write a report too; - is standard output (may be repeated): "+strings.Join(names, ", "))
	cmd.Flags().BoolVar(&o.github, "github", os.Getenv("GITHUB_ACTIONS") == "true", "annotations on standard error, and the Markdown in GITHUB_STEP_SUMMARY; by itself under GitHub Actions")
}

// parse reads the flags. Where a report goes to standard output, what would stand there goes to standard error.
func (o *outputs) parse(a *app) error {
	seen := map[string]bool{}
	for _, spec := range o.specs {
		kind, path, ok := strings.Cut(spec, "=")
		k, known := find(a.reportKinds(), kind)
		switch {
		case !ok || path == "" || !known:
			return usage{fmt.Errorf("-o %s: expected KIND=PATH, where KIND is one of %s", spec, kindNames(a.reportKinds()))}
		case seen[path]:
			return usage{fmt.Errorf("-o %s: another report goes to %s already", spec, path)}
		case path == "-" && a.json:
			return usage{fmt.Errorf("-o %s: with --json, standard output is the JSON document alone", spec)}
		}
		seen[path] = true
		o.list = append(o.list, output{k, path})
	}
	a.piped = seen["-"]
	return nil
}

func find(kinds []reportKind, name string) (reportKind, bool) {
	for _, k := range kinds {
		if name == k.name || name == k.alias && name != "" {
			return k, true
		}
	}
	return reportKind{}, false
}

func kindNames(kinds []reportKind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return strings.Join(names, ", ")
}

// report writes all reports. What can't be written is told, and changes neither verdicts nor the exit status.
func (a *app) report(o *outputs, b *reports.Batch) {
	for _, out := range o.list {
		err := a.reportTo(out, b)
		if err != nil {
			fmt.Fprintf(a.stderr, "locktest: the %s report is missing: %v\n", out.kind.name, err)
		}
	}
	if !o.github {
		return
	}
	if err := reports.SafelyBatch(reports.GitHub(inRepository))(a.stderr, b); err != nil {
		fmt.Fprintf(a.stderr, "locktest: the annotations are missing: %v\n", err)
	}
	if path := os.Getenv("GITHUB_STEP_SUMMARY"); path != "" {
		if err := a.appendTo(path, reports.Markdown, b); err != nil {
			fmt.Fprintf(a.stderr, "locktest: the step's summary is missing: %v\n", err)
		}
	}
}

func (a *app) reportTo(out output, b *reports.Batch) error {
	write := reports.SafelyBatch(out.kind.write)
	if out.path == "-" && out.kind.raw {
		return write(access.Underlying(a.stdout), b)
	}
	if out.path == "-" {
		return write(a.stdout, b)
	}
	if err := os.MkdirAll(filepath.Dir(out.path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(out.path)
	if err != nil {
		return err
	}
	var w io.Writer = f
	if !out.kind.raw {
		w = a.discreet(f)
	}
	err = errors.Join(write(w, b), f.Close())
	if info, statErr := os.Lstat(out.path); err != nil && statErr == nil && info.Mode().IsRegular() {
		err = errors.Join(err, os.Remove(out.path)) // half a report would be read as a whole one
	}
	return err
}

func (a *app) appendTo(path string, r reports.BatchReporter, b *reports.Batch) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(reports.SafelyBatch(r)(a.discreet(f), b), f.Close())
}

// writeDocument is the report that is what --json prints.
func (a *app) writeDocument(w io.Writer, b *reports.Batch) error {
	return encode(w, a.documentFor(b))
}

// inRepository is a scenario's path below the folder in which GitHub's runners have the repository; empty: it isn't there.
func inRepository(file string) string {
	if file == "" {
		return ""
	}
	full, err := filepath.Abs(file)
	if err != nil {
		return ""
	}
	if _, err := os.Stat(full); err != nil {
		return "" // one that comes with the program
	}
	root := os.Getenv("GITHUB_WORKSPACE")
	if root == "" {
		if root, err = os.Getwd(); err != nil {
			return ""
		}
	}
	rel, err := filepath.Rel(root, full)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}
