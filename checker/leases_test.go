package checker

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/locktest/locktest/history"
)

// overlappingHolds is a history in which n clients are granted one lock and then, one after the other, release it.
func overlappingHolds(n int, expiry history.Expiry) *history.History {
	h := &history.History{Header: history.Header{Schema: history.Schema, Locks: []history.Lock{{Name: "L", Contract: history.Contract{
		Expiry: expiry, TTL: time.Minute, Tokens: history.PerGrant, OwnerChecked: true, ReleaseHeld: true,
	}}}}}
	add := func(o history.Op) {
		o.Index, o.Time, o.Lock = len(h.Ops), time.Duration(len(h.Ops)+1)*time.Microsecond, "L"
		h.Ops = append(h.Ops, o)
	}
	for _, f := range []history.F{history.Acquire, history.Release} {
		for k := range n {
			o := history.Op{Client: fmt.Sprintf("c%d", k), F: f, Grant: k + 1, Type: history.Invoke}
			add(o)
			o.Type = history.OK
			if f == history.Acquire {
				o.Token = uint64(k + 1)
			}
			add(o)
		}
	}
	return h
}

// However many grants were in force at once, each is found once, and only so many are put into words.
func TestManyDoubleGrants(t *testing.T) {
	const n = 3000
	for _, expiry := range []history.Expiry{history.Lease, history.Session} {
		v, err := newView(overlappingHolds(n, expiry))
		if err != nil {
			t.Fatal(err)
		}
		v.most = 7
		r := exclusionOf(context.Background(), v, &v.locks[0])
		if r.verdict != Violated || len(r.findings) != 7 || r.more != n-1-7 || r.numbers["double_grants"] != n-1 {
			t.Errorf("%s: %s, %d findings and %d more, %v double grants; want %d in all, 7 in words", expiry, r.verdict, len(r.findings), r.more, r.numbers["double_grants"], n-1)
		}
		if s := sum([]*ruling{r}); s.Count != n-1 {
			t.Errorf("%s: the result counts %d, want %d", expiry, s.Count, n-1)
		}
	}
}

func TestSaturatingTimes(t *testing.T) {
	if got := scale(forever/2, 3); got != forever {
		t.Errorf("half of forever, three times, is %v", got)
	}
	if got := scale(10, 1.5); got != 15 {
		t.Errorf("10 by 1.5 is %v", got)
	}
	if got := plus(forever-1, 2); got != forever {
		t.Errorf("one before forever, and two, is %v", got)
	}
	if got := plus(2, 3); got != 5 {
		t.Errorf("2 and 3 are %v", got)
	}
}
