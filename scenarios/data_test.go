package scenarios

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReports(t *testing.T) {
	_, problems := Load("x.yaml", []byte("version: 1\nname: x\nlock: redis/single\n"), testNames())
	got, err := json.Marshal(problems.Reports())
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"code":"LT005","severity":"error","file":"x.yaml","line":3,"column":7,"message":"lock is text, not a mapping","fix":"write lock: {use: redis/single}"}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if none, _ := json.Marshal(Problems(nil).Reports()); string(none) != "[]" {
		t.Errorf("no problems are %s", none)
	}
}

// TestRenderShowsAll: a file's problems are told at once, and what is left out is counted.
func TestRenderShowsAll(t *testing.T) {
	for _, c := range []struct {
		problems int
		shown    int
		rest     string
	}{{12, 12, ""}, {50, 50, ""}, {51, 50, "and 1 more problem not shown"}, {73, 50, "and 23 more problems not shown"}} {
		t.Run(fmt.Sprint(c.problems), func(t *testing.T) {
			var src strings.Builder
			src.WriteString("version: 1\nname: x\n")
			for i := range c.problems {
				fmt.Fprintf(&src, "unknown-key-%d: 1\n", i)
			}
			_, problems := Load("x.yaml", []byte(src.String()), testNames())
			if len(problems) != c.problems || len(problems.Reports()) != c.problems {
				t.Fatalf("%d problems", len(problems))
			}
			text := render(t, problems, false)
			if n := strings.Count(text, "error LT003"); n != c.shown {
				t.Errorf("%d are shown, want %d", n, c.shown)
			}
			if strings.Contains(text, "not shown") != (c.rest != "") || !strings.Contains(text, c.rest) {
				t.Errorf("want %q in:\n%s", c.rest, text[len(text)-100:])
			}
		})
	}
}
