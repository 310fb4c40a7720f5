// Package baseline is which violations are known: a file of signatures that somebody accepted, each with the reason, and what
// became of them in new runs. It judges no history and runs nothing; a violation that isn't in the file stays one.
package baseline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Schema names the version of the file; DefaultFile is where it is looked for.
const (
	Schema      = "locktest.baseline/1"
	DefaultFile = "locktest.baseline.json"
)

// dateForm is how dates stand in the file.
const dateForm = "2006-01-02"

// ErrFormat is wrapped by every error about what a file says.
var ErrFormat = errors.New("not a baseline")

// Entry is one accepted violation.
type Entry struct {
	ID string `json:"id"` // of the signature, which follows
	Signature
	Because string `json:"because"`
	By      string `json:"by,omitempty"`
	Since   string `json:"since,omitempty"`
	Review  string `json:"review,omitempty"` // once this day is over, every run reminds of it
}

// File is a baseline as it is committed.
type File struct {
	Schema   string  `json:"schema"`
	Accepted []Entry `json:"accepted"`
}

// Read reads and checks the file at path.
func Read(path string) (*File, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	f := &File{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(f); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrFormat, err)
	}
	if f.Schema != Schema {
		return nil, fmt.Errorf("%s: %w: its schema is %q, expected %s", path, ErrFormat, f.Schema, Schema)
	}
	seen := map[string]bool{}
	for i, e := range f.Accepted {
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("%s: %w: entry %d: %w", path, ErrFormat, i+1, err)
		}
		if seen[e.ID] {
			return nil, fmt.Errorf("%s: %w: entry %d: %s stands twice", path, ErrFormat, i+1, e.ID)
		}
		seen[e.ID] = true
	}
	return f, nil
}

func (e *Entry) check() error {
	switch {
	case strings.TrimSpace(e.Because) == "":
		return errors.New("it has no reason: because is missing")
	case e.Property == "" || e.Fault == "":
		return errors.New("it needs a property and a fault, or none for the latter")
	case e.ID != e.Signature.ID():
		return fmt.Errorf("its id is %q, that of what it names is %s", e.ID, e.Signature.ID())
	}
	for _, day := range []string{e.Since, e.Review} {
		if _, err := time.Parse(dateForm, day); day != "" && err != nil {
			return fmt.Errorf("%q is no day such as 2026-10-02", day)
		}
	}
	return nil
}

// Write replaces the file at path as a whole: it never stands half written.
func (f *File) Write(path string) error {
	f.Schema = Schema
	if f.Accepted == nil {
		f.Accepted = []Entry{}
	}
	slices.SortFunc(f.Accepted, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Lock, b.Lock), cmp.Compare(a.Property, b.Property), cmp.Compare(a.Fault, b.Fault))
	})
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(f); err != nil {
		return fmt.Errorf("write baseline: %w", err)
	}
	tmp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	if err := os.WriteFile(tmp, b.Bytes(), 0o644); err != nil {
		return errors.Join(fmt.Errorf("write baseline: %w", err), os.Remove(tmp))
	}
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(fmt.Errorf("write baseline: %w", err), os.Remove(tmp))
	}
	return nil
}

// Find returns the entry of a signature; false for one that nobody accepted, and for no file at all.
func (f *File) Find(s Signature) (Entry, bool) {
	if f == nil {
		return Entry{}, false
	}
	i := slices.IndexFunc(f.Accepted, func(e Entry) bool { return e.Signature == s })
	if i < 0 {
		return Entry{}, false
	}
	return f.Accepted[i], true
}

// Add accepts signatures that aren't accepted yet, and returns their entries. Its error is that there is no reason.
func (f *File) Add(signatures []Signature, because, by string, review string, now time.Time) ([]Entry, error) {
	var added []Entry
	for _, s := range signatures {
		if _, known := f.Find(s); known {
			continue
		}
		e := Entry{ID: s.ID(), Signature: s, Because: because, By: by, Since: now.Format(dateForm), Review: review}
		if err := e.check(); err != nil {
			return nil, err
		}
		f.Accepted = append(f.Accepted, e)
		added = append(added, e)
	}
	return added, nil
}

// Remove drops the entries of these ids, and returns them.
func (f *File) Remove(ids []string) []Entry {
	var gone []Entry
	f.Accepted = slices.DeleteFunc(f.Accepted, func(e Entry) bool {
		if !slices.Contains(ids, e.ID) {
			return false
		}
		gone = append(gone, e)
		return true
	})
	return gone
}

// Due returns the entries whose day of review is over.
func (f *File) Due(now time.Time) []Entry {
	var due []Entry
	for _, e := range f.Accepted {
		if day, err := time.Parse(dateForm, e.Review); err == nil && now.After(day.AddDate(0, 0, 1)) {
			due = append(due, e)
		}
	}
	return due
}
