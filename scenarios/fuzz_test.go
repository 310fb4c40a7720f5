package scenarios

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/internal/access"
)

// FuzzLoad reads anything: no panic, every place lies inside the file, and what is accepted can be written and read again.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"*.yaml", "testdata/*.yaml", "testdata/*.good"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			f.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			src, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	names := testNames()
	f.Fuzz(func(t *testing.T, src []byte) {
		s, problems := Load("fuzz.yaml", src, names)
		text := newSource("fuzz.yaml", src)
		for _, p := range problems {
			inside(t, text, p.Place)
			if p.Related != nil {
				inside(t, text, *p.Related)
			}
		}
		if err := Render(io.Discard, problems, true); err != nil {
			t.Fatal(err)
		}
		if (s == nil) != problems.Failed() {
			t.Fatalf("scenario %v with %d problems", s, len(problems))
		}
		if s != nil {
			readsBack(t, s, names)
		}
	})
}

// inside checks that a place is in its line, which is shown but for passwords.
func inside(t *testing.T, s *source, p Place) {
	t.Helper()
	if p.Line < 1 || p.Line > len(s.lines) {
		t.Fatalf("line %d of %d", p.Line, len(s.lines))
	}
	width := utf8.RuneCountInString(s.lines[p.Line-1])
	if p.Column < 1 || p.Len < 1 || p.Column > width+1 || p.Column+p.Len > width+2 {
		t.Fatalf("column %d, length %d in a line of %d", p.Column, p.Len, width)
	}
	if p.Text != access.Line(s.lines[p.Line-1]) {
		t.Fatalf("excerpt %q of line %q", p.Text, s.lines[p.Line-1])
	}
}

func readsBack(t *testing.T, s *Scenario, names Names) {
	t.Helper()
	text := Resolved(s)
	again, problems := Load("resolved.yaml", text, names)
	if problems.Failed() {
		t.Fatalf("%v\n%s", problems, text)
	}
	if diff := cmp.Diff(s, again, sameApartFromPlaces()); diff != "" {
		t.Fatalf("(-given +resolved):\n%s\n%s", diff, text)
	}
}

// FuzzSetting sets anything anywhere.
func FuzzSetting(f *testing.F) {
	f.Add("workload.resource", "checks-token")
	f.Add("faults[1].for", "2s")
	f.Add("faults[1].pause[2]", "[c1]")
	f.Add("lock", "{ use: redis/single }")
	src, err := os.ReadFile("pause-holder.yaml")
	if err != nil {
		f.Fatal(err)
	}
	names := testNames()
	f.Fuzz(func(t *testing.T, key, value string) {
		s, problems := Load("fuzz.yaml", src, names, Setting{Flag: "--set", Key: key, Value: value})
		for _, p := range problems {
			if p.Place.Column < 1 || p.Place.Len < 1 {
				t.Fatalf("place %+v", p.Place)
			}
		}
		if s != nil {
			readsBack(t, s, names)
		}
	})
}
