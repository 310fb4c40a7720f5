package history

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLogCrash(t *testing.T) {
	h := imported(t, `
{"op":"acquire","lock":"L","client":"a","start":10,"end":10.5,"ttl":2}
{"op":"crash","client":"a","start":11}
`, FormatLog)
	if diff := cmp.Diff(Op{Index: 2, Time: time.Second, Client: "a", Type: Crash}, h.Ops[len(h.Ops)-1]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for text, want := range map[string]string{
		`{"op":"crash","lock":"L","client":"a","start":11}`: "line 1: not a history: a crash is of a client: expected no lock",
		`{"op":"crash","start":11}`:                         "line 1: not a history: client must be named",
	} {
		if _, _, err := Import(strings.NewReader(text), lease()); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
