package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/compare"
	"github.com/locktest/locktest/runner"
)

func TestExplainCommand(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want int
		says string
	}{
		"a term of two words": {[]string{"fencing", "token"}, 0, "A number that rises with every grant"},
		"a fault":             {[]string{"pause"}, 0, "SIGSTOP"},
		"a code":              {[]string{"LT101"}, 0, "locktest doctor"},
		"all":                 {nil, 0, "split brain"},
		"a misspelt one":      {[]string{"redlok"}, 64, "did you mean Redlock"},
		"one like no other":   {[]string{"xyzzyx"}, 64, "locktest explain lists all words"},
	} {
		t.Run(name, func(t *testing.T) {
			r := locktest(t, append([]string{"explain"}, c.args...)...)
			if r.status != c.want || !strings.Contains(r.stdout+r.stderr, c.says) {
				t.Errorf("status %d, want %d and %q\n%s%s", r.status, c.want, c.says, r.stdout, r.stderr)
			}
			for line := range strings.Lines(r.stdout) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
					t.Errorf("%d characters: %s", n, line)
				}
			}
		})
	}
	r := locktest(t, "explain", "lease", "--json")
	var doc struct{ Pages []struct{ Name, Kind string } }
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || len(doc.Pages) != 1 || doc.Pages[0].Kind != "term" {
		t.Errorf("%v: %s", err, r.stdout)
	}
}

// What a run prints at its end can be looked up: the word, the properties, their verdicts, the figures and what is typed next; and so
// can what stands in a comparison.
func TestEveryWordOfTheSummaryIsExplained(t *testing.T) {
	words := map[string]string{}
	files, err := filepath.Glob("../../reports/testdata/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("%v: %d files", err, len(files))
	}
	row := regexp.MustCompile(`^  ([a-z][a-z -]{0,17}?) {2,}(\S[a-zA-Z/ -]*?) {2,}\S`)
	next := regexp.MustCompile(`^  (history|report|longer|again) `)
	for _, file := range files {
		if strings.HasSuffix(file, ".ops.txt") || strings.HasSuffix(file, ".color.txt") {
			continue
		}
		for n, line := range strings.Split(read(t, file), "\n") {
			first, _, _ := strings.Cut(line, "   ")
			if n == 0 {
				words[first] = file
			}
			if m := row.FindStringSubmatch(line); m != nil && !strings.Contains(line, "seed 42") {
				words[m[1]], words[m[2]] = file, file
			}
			if m := next.FindStringSubmatch(line); m != nil {
				words[m[1]] = file
			}
			if strings.HasPrefix(line, "  acquire p50") {
				for _, w := range regexp.MustCompile(`[a-z]+ p\d\d|grants/s|p\d\d|max`).FindAllString(line, -1) {
					for _, w := range strings.Fields(w) {
						words[w] = file
					}
				}
			}
		}
	}
	for _, p := range checker.All() {
		words[strings.ReplaceAll(p.Name(), "-", " ")] = "the properties"
	}
	for _, w := range []string{runner.WordViolated, runner.WordInconclusive, runner.WordExpectation, runner.WordNone, runner.WordAccepted, runner.WordKnown, runner.WordAsExpected, "accepted", "known", "as expected",
		"holds", "overlaps", "grants", "contended", "stale write", "stale holder", "hit", "hold", "host stall", "Porcupine", "phase", "warmup", "settle", "drain", "not granted"} {
		words[w] = "a run's summary"
	}
	for _, w := range []compare.Word{compare.Violated, compare.Unavailable, compare.Inconclusive, compare.Held, compare.NotApplicable} {
		words[string(w)] = "the comparison"
	}
	for _, w := range []string{"held with token check", "scenario", "seed", "lock", "p50", "p99", "grants a second", "acquire", "granted under faults", "slowest recovery", "report", "run"} {
		words[w] = "the comparison"
	}
	if len(words) < 40 {
		t.Errorf("only %d words were found: %v", len(words), words)
	}
	for w, file := range words {
		for _, w := range strings.Split(w, ", ") {
			if r := locktest(t, "explain", w); r.status != 0 {
				t.Errorf("%q, of %s, isn't explained: %s", w, file, r.stderr)
			}
		}
	}
}
