package checker

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locktest/locktest/history"
)

// FuzzCheckers judges whatever the text form can say. No checker may panic, and each verdict is one of four, with its
// reason where it is no pass and no violation.
func FuzzCheckers(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		given, _, _ := strings.Cut(string(text), "\n---\n")
		f.Add(given)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := history.ParseTextString(text)
		if err != nil {
			return
		}
		for _, r := range Run(context.Background(), h, All(), Options{}) {
			if strings.Contains(r.Why, "panicked") {
				t.Fatalf("%s: %s", r.Property, r.Why)
			}
			if (r.Verdict == Inconclusive || r.Verdict == NotApplicable) && r.Why == "" {
				t.Fatalf("%s is %s and doesn't say why", r.Property, r.Verdict)
			}
			if (r.Verdict == Violated) && len(r.Findings) == 0 {
				t.Fatalf("%s is violated, but nothing shows it", r.Property)
			}
			for _, x := range r.Findings {
				if len(x.Ops) == 0 || x.Ops[0] < 0 || x.Ops[len(x.Ops)-1] >= len(h.Ops) || x.Message == "" {
					t.Fatalf("%s: a finding without its events or its sentence: %+v", r.Property, x)
				}
			}
		}
	})
}
