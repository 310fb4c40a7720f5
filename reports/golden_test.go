package reports

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/runner"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func written(t testing.TB, r Reporter, o *runner.Outcome) string {
	t.Helper()
	var b bytes.Buffer
	if err := r(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestScreens(t *testing.T) {
	for name, o := range cases() {
		t.Run(name, func(t *testing.T) {
			text := written(t, Text(Style{}), o)
			golden(t, "testdata/"+name+".txt", text)
			narrow(t, text, 80, o)
			if strings.ContainsRune(text, '\x1b') {
				t.Error("an escape sequence in plain text")
			}
			ascii := written(t, Text(Style{ASCII: true}), o)
			golden(t, "testdata/"+name+".ascii.txt", ascii)
			if i := strings.IndexFunc(ascii, func(r rune) bool { return r > 0x7e || r < ' ' && r != '\n' }); i >= 0 {
				t.Errorf("%q in ASCII text", ascii[i:i+1])
			}
			color := written(t, Text(Style{Color: true}), o)
			golden(t, "testdata/"+name+".color.txt", color)
			if starts, ends := strings.Count(color, "\x1b[")-strings.Count(color, colorReset), strings.Count(color, colorReset); starts != ends {
				t.Errorf("%d colours begin and %d end", starts, ends)
			}
			if bare := uncolored(color); bare != text {
				t.Errorf("colours change the text (-plain +colour):\n%s", cmp.Diff(text, bare))
			}
		})
	}
}

// narrow checks the width of lines. Commands and paths stay in one piece, so that they can be copied.
func narrow(t *testing.T, text string, width int, o *runner.Outcome) {
	t.Helper()
	for _, l := range strings.Split(text, "\n") {
		if strings.Contains(l, "runs/") || strings.Contains(l, "averyveryverylongword") {
			continue
		}
		if n := utf8.RuneCountInString(l); n > width {
			t.Errorf("%d characters: %s", n, l)
		}
	}
}

func uncolored(s string) string {
	for _, c := range []string{colorBad, colorGood, colorDoubt, colorFault, colorName, colorReset} {
		s = strings.ReplaceAll(s, c, "")
	}
	return s
}

func TestWiderScreens(t *testing.T) {
	for name, o := range cases() {
		for _, width := range []int{60, 100} {
			t.Run(name, func(t *testing.T) { narrow(t, written(t, Text(Style{Width: width}), o), width, o) })
		}
	}
}

func TestStoriesAreShort(t *testing.T) {
	for name, o := range cases() {
		for _, g := range Groups(o.History, o.Results) {
			for _, i := range g.Incidents {
				if events, _ := newScene(o.History, &i).events(); len(events) > maxEvents || len(events) == 0 {
					t.Errorf("%s: %d events", name, len(events))
				}
			}
		}
	}
}

// TestReportsChangeNothing: rendering can never change a verdict.
func TestReportsChangeNothing(t *testing.T) {
	for name, o := range cases() {
		before, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []Reporter{Text(Style{}), Verdict(Style{}), JSON, HTML(HTMLOptions{})} {
			written(t, r, o)
		}
		after, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(before, after) {
			t.Errorf("%s was changed", name)
		}
	}
}

func TestJSON(t *testing.T) {
	for name, o := range cases() {
		t.Run(name, func(t *testing.T) {
			text := written(t, JSON, o)
			golden(t, "testdata/"+name+".json", text)
			var d Document
			decoder := json.NewDecoder(strings.NewReader(text))
			if err := decoder.Decode(new(any)); err != nil {
				t.Fatal(err)
			}
			if decoder.More() {
				t.Error("more than one document")
			}
			d = *NewDocument(o)
			if d.Exit != o.Conclusion.Exit || d.Met != (o.Conclusion.Exit == 0) || len(d.Conditions) != len(o.Conclusion.Conditions) {
				t.Errorf("exit %d, met %v, %d conditions", d.Exit, d.Met, len(d.Conditions))
			}
		})
	}
}

// Where nothing was attempted nothing is said of availability.
func TestJSONOfNoAttempt(t *testing.T) {
	o := inconclusive()
	o.Metrics.Faults = runner.Part{Availability: 1}
	var d struct {
		Metrics struct {
			Calm, Faults struct {
				Attempts     int
				Availability *float64
			}
		}
	}
	if err := json.Unmarshal([]byte(written(t, JSON, o)), &d); err != nil {
		t.Fatal(err)
	}
	var read Document
	if err := json.Unmarshal([]byte(written(t, JSON, o)), &read); err != nil || read.Metrics.Measured() != o.Metrics {
		t.Errorf("%v, read %+v, was %+v", err, read.Metrics.Measured(), o.Metrics)
	}
	if calm := d.Metrics.Calm; calm.Attempts != 1 || calm.Availability == nil || *calm.Availability != 1 || d.Metrics.Faults.Availability != nil {
		t.Errorf("%+v", d.Metrics)
	}
}

func TestGroups(t *testing.T) {
	o := staleWrite(nil)
	groups := Groups(o.History, o.Results)
	if len(groups) != 1 || !slices.Equal(groups[0].Incidents[0].Properties(), []string{"mutual-exclusion", "resource-safety"}) {
		t.Fatalf("%d groups: %+v", len(groups), groups)
	}
	o = fenceOrder()
	groups = Groups(o.History, o.Results)
	if len(groups) != 1 || groups[0].Count != 2 {
		t.Fatalf("%d groups: %+v", len(groups), groups)
	}
	other := staleWrite(nil)
	for i := range other.History.Ops {
		other.History.Ops[i].Time += ms(700)
	}
	if a, b := Groups(other.History, other.Results)[0].Incidents[0].Signature, Groups(staleWrite(nil).History, staleWrite(nil).Results)[0].Incidents[0].Signature; a != b || len(a) != 8 {
		t.Errorf("signatures %q and %q of the same thing at another time", a, b)
	}
}

func TestQuiet(t *testing.T) {
	text := written(t, Verdict(Style{}), cleanRun())
	if !strings.HasPrefix(text, "NO VIOLATION FOUND") || strings.Count(text, "\n") > 3 {
		t.Errorf("%s", text)
	}
}
