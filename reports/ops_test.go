package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOperations(t *testing.T) {
	ops := Operations(staleWrite(nil).History)
	var w strings.Builder
	if err := WriteOperations(&w, ops); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/stale-write.ops.txt", w.String())
	w.Reset()
	if err := WriteOperations(&w, Operations(crashedHolder().History)); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/crashed-holder.ops.txt", w.String())
	if hostile := Operations(hostile().History); len(hostile) == 0 {
		t.Error("no operations")
	} else if w.Reset(); WriteOperations(&w, hostile) != nil || strings.ContainsRune(w.String(), '\x1b') {
		t.Errorf("an escape sequence is in it: %q", w.String())
	}
}

// A call that a process left open lasts until the history's end, also where the client goes on as another process.
func TestCallsLeftOpen(t *testing.T) {
	f, err := ParseFilter("t:4..4.5 result:open")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range Operations(crashedHolder().History) {
		if f.Selects(o) {
			got = append(got, fmt.Sprintf("%s %s %s", o.Client, o.Op, o.Took))
		}
	}
	if diff := cmp.Diff([]string{"c3 acquire 2.701s", "c1 extend 1.751s"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFilter(t *testing.T) {
	ops := Operations(staleWrite(nil).History)
	for text, want := range map[string][]string{
		"client:c4 op:acquire":     {"c4 acquire ok"},
		"op:write":                 {"c4 write ok", "c2 write ok"},
		"token:41 op:write":        {"c2 write ok"},
		"result:not-held":          {"c2 release not-held"},
		"t:15.9..":                 {"c4 release ok", "c1 acquire ok", "c1 release ok"},
		"t:..12.004":               {"c2 acquire ok"},
		"t:13.5..14s op:acquire":   {"c4 acquire ok"}, // it lasted until 14.051
		"grant:43":                 {"c1 acquire ok", "c1 release ok"},
		"client:nemesis fault":     {"nemesis fault-begin ", "nemesis fault-end "},
		"client:c9":                nil,
		"lock:orders client:c1":    {"c1 acquire ok", "c1 release ok"},
		"not-held":                 {"c2 release not-held"},
		"client:c1 client:c2":      nil,
		"outcome:not-held":         {"c2 release not-held"},
		"  op:acquire  client:c2 ": {"c2 acquire ok"},
	} {
		f, err := ParseFilter(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range ops {
			if f.Selects(o) {
				got = append(got, o.Client+" "+o.Op+" "+o.Result)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for _, bad := range []string{"clients:c1", "t:12", "t:a..b", "op:", "t:-1..2", "t:5..1", "client:c1 OR client:c2", "client:c1 || client:c2"} {
		if _, err := ParseFilter(bad); err == nil {
			t.Errorf("%q is a filter", bad)
		}
	}
}

// A term that nothing can meet is told, with what there is.
func TestFilterThatCannotMatch(t *testing.T) {
	h := staleWrite(nil).History
	for text, want := range map[string]string{
		"client:c9":                   "c1",
		"result:nonsense":             "not-held",
		"outcome:nonsense":            "not-held",
		"op:aquire":                   "acquire",
		"lock:order":                  "orders",
		"result:unknown":              "",
		"op:crash":                    "",
		"client:c1 grant:999 nothing": "",
	} {
		f, err := ParseFilter(text)
		if err != nil {
			t.Fatal(err)
		}
		if err = f.Check(h, Operations(h)); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
