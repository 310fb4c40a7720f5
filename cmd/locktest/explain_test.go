package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
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
