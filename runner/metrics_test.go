package runner

import (
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/history"
)

// TestWait: a client waits from its first attempt at a lock to the one that is granted, whatever the others were answered.
func TestWait(t *testing.T) {
	h := &history.History{}
	add := func(client, lock string, process int, call, ret time.Duration, end history.Type, outcome history.Outcome) {
		for _, op := range []history.Op{{Time: call, Type: history.Invoke}, {Time: ret, Type: end, Outcome: outcome}} {
			op.Index, op.Client, op.Process, op.Lock, op.F, op.Grant = len(h.Ops), client, process, lock, history.Acquire, len(h.Ops)+1
			h.Ops = append(h.Ops, op)
		}
	}
	const ms = time.Millisecond
	add("c1", "a", 1, 10*ms, 20*ms, history.Fail, history.Busy)
	add("c2", "a", 2, 15*ms, 18*ms, history.OK, "")
	add("c1", "b", 1, 21*ms, 22*ms, history.OK, "") // another lock ends no wait for the first
	add("c1", "a", 1, 25*ms, 60*ms, history.Info, "")
	add("c1", "a", 3, 70*ms, 80*ms, history.OK, "") // the client goes on as another process
	add("c1", "a", 3, 90*ms, 95*ms, history.OK, "")
	add("c2", "a", 2, 96*ms, 99*ms, history.Fail, history.Busy) // is still waiting
	if got, want := Measure(h).All.Wait, (Quantiles{N: 4, P50: 3 * ms, P95: 70 * ms, P99: 70 * ms, Max: 70 * ms}); got != want {
		t.Errorf("wait %+v, expected %+v", got, want)
	}
}

// Grants of a history from elsewhere are told apart too: each hold lasts until the release of its own client and lock.
func TestHoldsFromElsewhere(t *testing.T) {
	h, err := history.ReadLog(strings.NewReader(`
{"op":"acquire","lock":"orders","client":"w1","start":1000.0,"end":1000.01}
{"op":"acquire","lock":"other","client":"w2","start":1000.5,"end":1000.51}
{"op":"release","lock":"orders","client":"w1","start":1010.0,"end":1010.01}
{"op":"release","lock":"other","client":"w2","start":1011.0,"end":1011.01}
`), history.Contract{Expiry: history.NoExpiry})
	if err != nil {
		t.Fatal(err)
	}
	if m := Measure(h).All.Hold; m.N != 2 || m.P50 != 9990*time.Millisecond || m.Max != 10490*time.Millisecond {
		t.Errorf("%d holds, half of them up to %s, at most %s; want 2, 9.99s and 10.49s", m.N, m.P50, m.Max)
	}
}

// TestHandover: from a release's answer to the next grant, if that had been waited for. The time until the one after isn't one, since
// another held the lock in it.
func TestHandover(t *testing.T) {
	h, err := history.ParseTextString(`
lock L expiry=lease ttl=100
a:A[0,10]lock=L b:A[20,300]lock=L a:R[40,50]lock=L
c:A[60,100]lock=L
b:R[310,320]lock=L d:A[305,330]lock=L`)
	if err != nil {
		t.Fatal(err)
	}
	const ms = time.Millisecond
	if got, want := Measure(h).All.Handover, (Quantiles{N: 1, P50: 10 * ms, P95: 10 * ms, P99: 10 * ms, Max: 10 * ms}); got != want {
		t.Errorf("handover %+v, expected %+v", got, want)
	}
}
