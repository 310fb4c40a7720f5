package history

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseText(t *testing.T) {
	h, err := ParseTextString(`
lock orders expiry=lease ttl=2s tokens=grant owner-checked release-held validity drift=0.01
resource stock check=checks-token ordered
fault pause min-hits=2
bounds recover-within=5s min-acquires=3
clients a b
clock error=5ms pipe=1
a:A[0,10]tok=1,valid=2010 b:B[5,20]   # b is refused
fault1:begin[12]targets=a+n1
a/2:A[15,?30]ttl=1s
a:W[15,16]on=stock,v=7,base=3,tok=1,n=4
a:lost[40] :drain[50] b:stall[60]late=200 fault1:end[70] a:crash[80]`)
	if err != nil {
		t.Fatal(err)
	}
	ms := time.Millisecond
	want := []Op{
		{Index: 0, Time: 0, Client: "a", Type: Invoke, F: Acquire, Lock: "orders", Grant: 1, Owner: "a"},
		{Index: 1, Time: 5 * ms, Client: "b", Type: Invoke, F: Acquire, Lock: "orders", Grant: 2, Owner: "b"},
		{Index: 2, Time: 10 * ms, Client: "a", Type: OK, F: Acquire, Lock: "orders", Grant: 1, Owner: "a", Token: 1, Valid: 2010 * ms},
		{Index: 3, Time: 12 * ms, Client: "nemesis", Thread: 1, Type: FaultBegin, F: "pause", Fault: 1, Targets: []string{"a", "n1"}},
		{Index: 4, Time: 15 * ms, Client: "a", Thread: 2, Type: Invoke, F: Acquire, Lock: "orders", Grant: 3, Owner: "a", TTL: time.Second},
		{Index: 5, Time: 15 * ms, Client: "a", Type: Invoke, F: Write, Lock: "orders", Resource: "stock", Grant: 1, Owner: "a", Value: 7, Base: 3},
		{Index: 6, Time: 16 * ms, Client: "a", Type: OK, F: Write, Lock: "orders", Resource: "stock", Grant: 1, Owner: "a", Token: 1, Value: 7, Base: 3, Data: []byte(`{"n":4}`)},
		{Index: 7, Time: 20 * ms, Client: "b", Type: Fail, F: Acquire, Lock: "orders", Grant: 2, Owner: "b", Outcome: Busy},
		{Index: 8, Time: 30 * ms, Client: "a", Thread: 2, Type: Info, F: Acquire, Lock: "orders", Grant: 3, Owner: "a", TTL: time.Second},
		{Index: 9, Time: 40 * ms, Client: "a", Type: Lost, Lock: "orders", Grant: 1, Owner: "a"},
		{Index: 10, Time: 50 * ms, Type: Phase, Name: PhaseDrain},
		{Index: 11, Time: 60 * ms, Client: "b", Type: HostStall, TTL: 200 * ms},
		{Index: 12, Time: 70 * ms, Client: "nemesis", Thread: 1, Type: FaultEnd, F: "pause", Fault: 1},
		{Index: 13, Time: 80 * ms, Client: "a", Type: Crash},
	}
	if diff := cmp.Diff(want, h.Ops); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	header := Header{
		Schema:     Schema,
		Locks:      []Lock{{Name: "orders", Provider: "text", Contract: Contract{Expiry: Lease, TTL: 2 * time.Second, Tokens: PerGrant, OwnerChecked: true, ReleaseHeld: true, Validity: true, Drift: 0.01}}},
		Resources:  []Resource{{Name: "stock", Check: ChecksToken, Store: "harness", Ordered: true}},
		Faults:     []Fault{{Number: 1, Kind: "pause", Text: "pause", MinHits: 2}},
		Bounds:     Bounds{RecoverWithin: 5 * time.Second, MinAcquires: 3},
		Clients:    []string{"a", "b"},
		ClockError: 5 * ms, Pipe: ms,
	}
	if diff := cmp.Diff(header, h.Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
}

func TestParseTextErrors(t *testing.T) {
	tests := map[string]string{
		"a:A[0,10]\nb:A0,10]":        `line 2: not a history: "b:A0,10]": expected WHO:WHAT[TIMES], such as a:A[0,10]`,
		"a:Q[0,10]":                  `line 1: not a history: "a:Q[0,10]": no operation is called "Q"`,
		"a:A[zero,10]":               `line 1: not a history: "a:A[zero,10]": "zero" is no time: write 10 (milliseconds) or 1.5s`,
		"a:A[-1,10]":                 `line 1: not a history: "a:A[-1,10]": "-1" is out of range`,
		"a:A[20,10]":                 `line 1: not a history: "a:A[20,10]": it returns before it is called`,
		"a:A[0,10]colour=red":        `line 1: not a history: "a:A[0,10]colour=red": no attribute is called "colour"`,
		"a:A[0,10]tok=x":             `line 1: not a history: "a:A[0,10]tok=x": tok: strconv.ParseUint: parsing "x": invalid syntax`,
		"a:A[0,10]grant=0":           `line 1: not a history: "a:A[0,10]grant=0": grant: 0: it counts from 1`,
		"a/0:A[0,10]":                `line 1: not a history: "a/0:A[0,10]": 0: it counts from 1`,
		"a:sleeps[0]":                `line 1: not a history: "a:sleeps[0]": no event is called "sleeps"`,
		"fault1:ends[0]":             `line 1: not a history: "fault1:ends[0]": a fault has a begin and an end, or is missed, but no "ends"`,
		"a:A[0,10] a:R[5,20]":        `not a history: a/0 is called at 5ms before its call at 0s returned`,
		"lock":                       `line 1: not a history: a name is missing`,
		"lock L expires=never":       `line 1: not a history: expires=never: a lock promises nothing of that name`,
		"resource x colour=red":      `line 1: not a history: colour=red: a resource has nothing of that name`,
		"fault pause colour=red":     `line 1: not a history: colour=red: a fault has nothing of that name`,
		"bounds recover-within=soon": `line 1: not a history: recover-within=soon: "soon" is no time: write 10 (milliseconds) or 1.5s`,
		"lock L drift=NaN":           `lock "L": not a history: drift is NaN, expected at least 0 and less than 1`,
		"clock skew=1":               `line 1: not a history: skew=1: a clock has nothing of that name`,
	}
	for text, want := range tests {
		t.Run(strings.Fields(text)[0], func(t *testing.T) {
			if _, err := ParseTextString(text); err == nil || err.Error() != want {
				t.Errorf("%q\n got %v\nwant %s", text, err, want)
			}
		})
	}
}

func FuzzParseText(f *testing.F) {
	f.Add("a:A[0,10] b:A[20,30] a:R[50,60]")
	f.Add("lock L expiry=lease ttl=2s\nresource x ordered\na:A[0,?5]tok=1,valid=9 fault1:begin[3]targets=a+b :drain[9]")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := ParseTextString(text)
		if err != nil {
			return
		}
		var last time.Duration
		for i, o := range h.Ops {
			if o.Index != i || o.Time < last {
				t.Fatalf("event %d has index %d, time %v after %v", i, o.Index, o.Time, last)
			}
			last = o.Time
		}
	})
}
