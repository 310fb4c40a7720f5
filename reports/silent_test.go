package reports

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
)

// A client that isn't heard of again was killed by nobody, as far as is known: it is told what is.
func TestStoryOfAClientNotHeardOfAgain(t *testing.T) {
	h, err := history.ReadLog(strings.NewReader(`
{"op":"acquire","lock":"L","client":"a","start":1000.0,"end":1000.01}
{"op":"acquire","lock":"L","client":"b","start":1001.5,"end":1001.51}
{"op":"release","lock":"L","client":"b","start":1003.0,"end":1003.01}
`), history.Contract{Expiry: history.Lease, TTL: 2 * time.Second, OwnerChecked: true, ReleaseHeld: true})
	if err != nil {
		t.Fatal(err)
	}
	rs := checker.Run(context.Background(), h, checker.All(), checker.Options{})
	var b strings.Builder
	if err := NewStory(h, Groups(h, rs)[0].Incidents[0], Style{}).Write(&b); err != nil {
		t.Fatal(err)
	}
	story := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{"2.000 a nothing later is known of it", "a counted as holder until its lease ended at 2.000: nothing later is known of it."} {
		if !strings.Contains(story, want) {
			t.Errorf("want %q", want)
		}
	}
	if strings.Contains(story, "killed") {
		t.Error("it was killed by nobody")
	}
	if t.Failed() {
		t.Log(b.String())
	}
	if n := tally(h).Crashes; n != 0 {
		t.Errorf("%d crashes", n)
	}
}
