package scenarios

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestResolved writes the scenario files of this folder with their defaults and reads them again. Those below it use
// names that only the catalogue knows.
func TestResolved(t *testing.T) {
	sources := map[string][]byte{}
	for _, name := range List() {
		if strings.Contains(name, "/") {
			continue
		}
		src, err := fs.ReadFile(FS(), name+".yaml")
		if err != nil {
			t.Fatal(err)
		}
		sources[name] = src
	}
	whole, err := os.ReadFile("testdata/whole.good")
	if err != nil {
		t.Fatal(err)
	}
	sources["whole"] = whole
	if len(sources) < 9 {
		t.Fatalf("%d files only", len(sources))
	}
	for name, src := range sources {
		t.Run(name, func(t *testing.T) { roundTrip(t, src) })
	}
}

func roundTrip(t *testing.T, src []byte) {
	t.Helper()
	s, problems := Load("given", src, testNames())
	if problems.Failed() {
		t.Fatal(render(t, problems, false))
	}
	s.Run.Seed, s.Run.HasSeed = 77, true
	text := Resolved(s)
	again, problems := Load("resolved", text, testNames())
	if problems.Failed() {
		t.Fatalf("%s\n%s", render(t, problems, false), text)
	}
	if diff := cmp.Diff(s, again, sameApartFromPlaces()); diff != "" {
		t.Errorf("(-given +resolved):\n%s\n%s", diff, text)
	}
}
