package checker

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/history"
)

var update = flag.Bool("update", false, "write what the checkers say into testdata")

// TestGolden judges the hand-made histories in testdata. What stands after the line of dashes is what is expected: each
// property with its verdict, and each finding with its events.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 23 {
		t.Fatalf("%d files in testdata, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	given, want, _ := strings.Cut(string(text), "\n---\n")
	h, err := history.ParseTextString(given)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	got := told(Run(context.Background(), h, All(), Options{}))
	if *update {
		if err := os.WriteFile(file, []byte(strings.TrimRight(given, "\n")+"\n---\n"+got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// told leaves out what does not apply, and what is inconclusive for want of a run around a hand-made history.
func told(rs []Result) string {
	var b strings.Builder
	for _, r := range rs {
		if r.Verdict == NotApplicable || r.Verdict == Inconclusive && len(r.Findings) == 0 && r.Property != Coverage && r.Property != MutualExclusion {
			continue
		}
		fmt.Fprintf(&b, "%s: %s", r.Property, r.Verdict)
		if !r.Complete {
			b.WriteString(", not complete")
		}
		if r.Verdict == Inconclusive {
			fmt.Fprintf(&b, ", because %s", r.Why)
		} else {
			fmt.Fprintf(&b, ", %s", r.Summary)
		}
		b.WriteString("\n")
		for _, f := range r.Findings {
			fmt.Fprintf(&b, "  %s %s %s by %s, events %v", f.Kind, f.Strength, f.Lock+f.Resource, f.Blame, f.Ops)
			if f.Fenced != "" {
				fmt.Fprintf(&b, ", fenced %s", f.Fenced)
			}
			fmt.Fprintf(&b, "\n    %s\n", f.Message)
		}
	}
	return b.String()
}

// verdictOf returns the result of one property.
func verdictOf(t *testing.T, h *history.History, property string) Result {
	t.Helper()
	rs := Run(context.Background(), h, []Checker{For(property)}, Options{})
	return rs[0]
}

// kindsOf returns the kinds of findings, each once.
func kindsOf(r Result) []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.Kind)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
