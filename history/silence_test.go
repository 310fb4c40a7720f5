package history

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// deaths lists the deaths in a log whose leases last two seconds where it doesn't say: CLIENT@TIME, with a ? if presumed.
func deaths(t *testing.T, log string) []string {
	t.Helper()
	h, err := ReadLog(strings.NewReader(log), Contract{Expiry: Lease, TTL: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for i, o := range h.Ops {
		if o.Index != i || i > 0 && o.Time < h.Ops[i-1].Time {
			t.Errorf("event %d has index %d and time %s", i, o.Index, o.Time)
		}
		if o.Type == Crash {
			s := o.Client + "@" + o.Time.String()
			if o.Text != "" {
				s += "?"
			}
			out = append(out, s)
		}
	}
	return out
}

// Who was granted a lease and isn't heard of again is not taken for a holder beyond the end of that lease. Who goes on
// is, and so is whoever still may hold when the log ends.
func TestSilence(t *testing.T) {
	const (
		held  = `{"op":"acquire","lock":"L","client":"a","start":10,"end":10.5}` + "\n"
		other = `{"op":"acquire","lock":"L","client":"b","start":20,"end":20.5}` + "\n"
	)
	line := func(fields string) string { return "{" + fields + "}\n" }
	for name, tt := range map[string]struct {
		log  string
		want []string
	}{
		"never heard of again":        {held + other, []string{"a@2s?"}},
		"its own TTL":                 {line(`"op":"acquire","lock":"L","client":"a","start":10,"end":10.5,"ttl":5`) + other, []string{"a@5s?"}},
		"what it was told":            {line(`"op":"acquire","lock":"L","client":"a","start":10,"end":10.5,"valid_until":11.5`) + other, []string{"a@1.5s?"}},
		"extended":                    {held + line(`"op":"extend","lock":"L","client":"a","start":11,"end":11.5,"ttl":4`) + other, []string{"a@5s?"}},
		"an extend without an answer": {held + line(`"op":"extend","lock":"L","client":"a","start":11`) + other, []string{"a@2s?"}},
		"granted too late":            {line(`"op":"acquire","lock":"L","client":"a","start":10,"end":13`) + other, []string{"a@3s?"}},
		"asked for another meanwhile": {held + line(`"op":"acquire","lock":"M","client":"a","start":11,"end":11.2,"result":"busy"`) + other, []string{"a@2s?"}},
		"two locks, the first end":    {held + line(`"op":"acquire","lock":"M","client":"a","start":11,"end":11.2`) + other, []string{"a@2s?"}},
		"went on":                     {held + line(`"op":"acquire","lock":"M","client":"a","start":13,"end":13.2,"result":"busy"`) + other, []string{}},
		"went on, after the other":    {held + other + line(`"op":"release","lock":"L","client":"a","start":30,"end":31`), []string{"b@12s?"}},
		"released":                    {held + line(`"op":"release","lock":"L","client":"a","start":11`) + other, []string{}},
		"lost":                        {held + line(`"op":"lost","lock":"L","client":"a","start":11`) + other, []string{}},
		"told by an extend":           {held + line(`"op":"extend","lock":"L","client":"a","start":11,"end":11.5,"result":"not-held"`) + other, []string{}},
		"its death is in the log":     {held + line(`"op":"crash","client":"a","start":11`) + other, []string{"a@1s"}},
		"refused":                     {line(`"op":"acquire","lock":"L","client":"a","start":10,"end":10.5,"result":"busy"`) + other, []string{}},
		"the log ends before":         {held + line(`"op":"acquire","lock":"L","client":"b","start":11,"end":12`), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, deaths(t, tt.log)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Nothing is presumed where leases don't end, or nobody knows when.
func TestSilenceWithoutLease(t *testing.T) {
	const log = `{"op":"acquire","lock":"L","client":"a","start":10,"end":10.5}` + "\n" + `{"op":"acquire","lock":"L","client":"b","start":20,"end":20.5}`
	for _, c := range []Contract{{Expiry: NoExpiry, TTL: time.Second}, {Expiry: Session, TTL: time.Second}, {Expiry: Lease}, {Expiry: Lease, TTL: time.Second, Background: true}} {
		h, err := ReadLog(strings.NewReader(log), c)
		if err != nil || len(h.Ops) != 4 {
			t.Errorf("%+v: %d events, %v", c, len(h.Ops), err)
		}
	}
}
