package checker

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/locktest/locktest/history"
)

// tidy is a history in which nothing was left behind, and what it says of who was asked.
func tidy(t *testing.T, asked, why string) *history.History {
	t.Helper()
	h, err := history.ParseTextString("lock L expiry=lease ttl=100 tokens=grant owner-checked release-held validity\nclients a\na:A[0,10]tok=1,valid=95 a:R[20,25] :drain[200] a:A[201,202]tok=2,valid=300 a:R[203,204] :end[400]\n")
	if err != nil {
		t.Fatal(err)
	}
	if asked != "" {
		last := h.Ops[len(h.Ops)-1]
		h.Ops = append(h.Ops, history.Op{Index: last.Index + 1, Time: last.Time, Type: history.Observed, Data: json.RawMessage(asked), Error: why})
	}
	return h
}

// That nothing is left behind is said only of servers that were asked and answered.
func TestHygieneSaysWhoWasAsked(t *testing.T) {
	for name, c := range map[string]struct {
		asked, why    string
		complete      bool
		summary, told string
	}{
		"nobody says":       {"", "", true, "0 left behind or held too long", ""},
		"all answered":      {`{"answered":3,"nodes":3,"asked":1,"locks":1}`, "", true, "0 left behind or held too long", ""},
		"none can":          {`{"answered":0,"nodes":1,"asked":1,"locks":1}`, "n1: it can't be asked", false, "0 never released or held too long; 0 of 1 node said what is left (n1: it can't be asked)", "0 of 1 node said what is left (n1: it can't be asked)"},
		"one is dead":       {`{"answered":2,"nodes":3,"asked":1,"locks":1}`, "", false, "0 left behind or held too long", "2 of 3 nodes said what is left"},
		"too many locks":    {`{"answered":3,"nodes":3,"asked":20,"locks":40}`, "", false, "0 left behind or held too long", "what is left was asked of 20 of 40 locks"},
		"it makes no sense": {`{"answered":4,"nodes":3}`, "", true, "0 left behind or held too long", ""},
	} {
		r := verdictOf(t, tidy(t, c.asked, c.why), Hygiene)
		if r.Verdict != Held || r.Complete != c.complete || !strings.HasSuffix(r.Summary, ", "+c.summary) || r.Why != c.told || len(r.Findings) > 0 {
			t.Errorf("%s: %s, complete=%v, %q, because %q, %v", name, r.Verdict, r.Complete, r.Summary, r.Why, r.Findings)
		}
	}
}
