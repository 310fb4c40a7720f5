package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/locktest/locktest/reports"
	"github.com/locktest/locktest/runner"
)

// mostOperations is how many a page has unless the command line says otherwise.
const mostOperations = reports.DefaultHTMLOperations

// keep writes the result, the stories and the page into the run's folder. What can't be written is told and changes no
// verdict.
func (a *app) keep(o *runner.Outcome, most int) {
	if o.Dir == "" {
		return
	}
	a.write(o, runner.ResultFile, writeResult)
	if o.History == nil {
		return
	}
	for i, g := range reports.Groups(o.History, o.Results) {
		if i == 50 {
			break
		}
		a.write(o, filepath.Join("violations", fmt.Sprintf("%d.txt", i+1)), func(w io.Writer, o *runner.Outcome) error {
			return reports.NewStory(o.History, g.Incidents[0], reports.Style{Width: 80}).Write(w)
		})
	}
	path := filepath.Join(o.Dir, reports.HTMLFile)
	if err := a.writePage(path, o, most); err != nil {
		fmt.Fprintf(a.stderr, "locktest: %s is missing: %v\n", reports.HTMLFile, err)
		return
	}
	o.Report = path
}

// write writes one file of the run's folder, or says that it is missing.
func (a *app) write(o *runner.Outcome, name string, r reports.Reporter) {
	if err := whole(filepath.Join(o.Dir, name), o, func(w io.Writer, o *runner.Outcome) error { return r(a.discreet(w), o) }); err != nil {
		fmt.Fprintf(a.stderr, "locktest: %s is missing: %v\n", name, err)
	}
}

// writePage writes the page of an outcome.
func (a *app) writePage(path string, o *runner.Outcome, most int) error {
	return whole(path, o, func(w io.Writer, o *runner.Outcome) error { return a.pageOf(w, o, most) })
}

// pageOf takes secrets out by itself: the packed part of a page must stay as it is.
func (a *app) pageOf(w io.Writer, o *runner.Outcome, most int) error {
	options := reports.HTMLOptions{Max: most, Redact: a.discreetText}
	if o.Dir != "" {
		options.Folder = reports.ReadFolder(o.Dir)
	}
	return a.page(options)(w, o)
}

// htmlOutput is the report that is the page of one run.
func (a *app) htmlOutput(w io.Writer, b *reports.Batch) error {
	return reports.Gravest(func(w io.Writer, o *runner.Outcome) error { return a.pageOf(w, o, mostOperations) })(w, b)
}

// whole writes a report whole or not at all: what stood there before stays until all is written.
func whole(path string, o *runner.Outcome, r reports.Reporter) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return into(path, o, r) // a pipe or a device, such as /dev/stdout: nothing can take its place
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(reports.Safely(r)(f, o), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

func into(path string, o *runner.Outcome, r reports.Reporter) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(reports.Safely(r)(f, o), f.Close())
}
