package runner

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/checker"
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

// What is asked after the begin of the drain counts nowhere, and neither does its time; what was asked before it counts, whenever
// it was answered, or never.
func TestDrain(t *testing.T) {
	h, err := history.ParseTextString(`
lock L
a:A[0,10] a:R[500,510] b:A[5,12] b:R[1000,1010] c:A[1100,?1200] d:A[1900,2500]
:drain[2000] a:A[2001,2010] a:R[2020,2030] b:A[2040,12000] e:A[1950,?12025]
:end[12030]`)
	if err != nil {
		t.Fatal(err)
	}
	h.Ops = slices.DeleteFunc(h.Ops, func(o history.Op) bool { return o.Client == "e" && o.Type == history.Info }) // it died in its call
	for i := range h.Ops {
		h.Ops[i].Index = i
	}
	m := Measure(h).All
	if m.Attempts != 5 || m.Granted != 3 || m.Unknown != 2 || m.Throughput != 1.5 {
		t.Errorf("%d attempts, %d granted, %d unknown, %v a second; want 5, 3, 2, 1.5", m.Attempts, m.Granted, m.Unknown, m.Throughput)
	}
	for _, r := range checker.Run(t.Context(), h, []checker.Checker{checker.For(checker.Availability)}, checker.Options{}) {
		if r.Numbers["attempts_all"] != 5 || r.Numbers["all"] != 0.6 {
			t.Errorf("the check counts %v attempts, %v of them answered; want 5, 0.6", r.Numbers["attempts_all"], r.Numbers["all"])
		}
	}
}
