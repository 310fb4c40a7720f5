package checker

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/history"
)

type panics struct{}

func (panics) Name() string { return "panics" }

func (panics) Check(context.Context, *history.History) (Result, error) { panic("out of order") }

func parsed(t *testing.T, text string) *history.History {
	t.Helper()
	h, err := history.ParseTextString(text)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestPanicLeavesOtherVerdicts(t *testing.T) {
	h := parsed(t, "a:A[0,10] b:A[20,30] a:R[50,60]")
	rs := Run(context.Background(), h, []Checker{For(MutualExclusion), panics{}, For(Ownership)}, Options{})
	if rs[0].Verdict != Violated || rs[2].Verdict != Held {
		t.Errorf("the other verdicts are %v and %v, want violated and held", rs[0].Verdict, rs[2].Verdict)
	}
	if rs[1].Verdict != Inconclusive || !strings.Contains(rs[1].Why, "out of order") || !strings.Contains(rs[1].Why, "run_test.go") {
		t.Errorf("the checker that panicked says %v, %q; want inconclusive, with the panic and its place", rs[1].Verdict, rs[1].Why)
	}
}

func TestStoppedCheckKeepsWhatItFound(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	h := parsed(t, "a:A[0,10] a:R[20,25] b:A[30,40] b:R[50,60]")
	for _, c := range []Checker{For(MutualExclusion), For(Ownership), For(Fencing)} {
		r := Run(ctx, h, []Checker{c}, Options{})[0]
		if r.Verdict != Inconclusive || r.Complete || !strings.Contains(r.Why, "stopped") {
			t.Errorf("%s, stopped: %v, complete=%v, why %q; want inconclusive and why", r.Property, r.Verdict, r.Complete, r.Why)
		}
	}
}

func TestMaxFindings(t *testing.T) {
	h := parsed(t, "a:A[0,10] b:A[11,12] c:A[13,14] d:A[15,16] a:R[50,60]")
	r := Run(context.Background(), h, []Checker{For(MutualExclusion)}, Options{MaxFindings: 2})[0]
	if len(r.Findings) != 2 || r.Count != 3 {
		t.Errorf("%d findings kept of %d, want 2 of 3", len(r.Findings), r.Count)
	}
}

func TestMerge(t *testing.T) {
	tests := map[string]struct {
		in   []Verdict
		want Verdict
	}{
		"none":                        {nil, Inconclusive},
		"violated outweighs":          {[]Verdict{Held, Inconclusive, Violated}, Violated},
		"inconclusive outweighs held": {[]Verdict{Held, Inconclusive, NotApplicable}, Inconclusive},
		"n/a has no say":              {[]Verdict{NotApplicable, Held}, Held},
		"all n/a":                     {[]Verdict{NotApplicable, NotApplicable}, NotApplicable},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Merge(tt.in...); got != tt.want {
				t.Errorf("Merge(%v) = %v, want %v", tt.in, got, tt.want)
			}
		})
	}
}

func TestVerdictText(t *testing.T) {
	in := []Verdict{Inconclusive, Held, Violated, NotApplicable}
	text, err := json.Marshal(in)
	if err != nil || string(text) != `["inconclusive","held","violated","not-applicable"]` {
		t.Fatalf("%s, %v", text, err)
	}
	var out []Verdict
	if err := json.Unmarshal(text, &out); err != nil || !cmp.Equal(in, out) {
		t.Errorf("read back %v, %v", out, err)
	}
	var v Verdict
	if err := v.UnmarshalText([]byte("passed")); err == nil {
		t.Error("passed is no verdict, but was read as one")
	}
}

func TestRefusedHistories(t *testing.T) {
	invoke := func(at time.Duration) history.Op {
		return history.Op{Time: at, Client: "a", Type: history.Invoke, F: history.Acquire, Lock: "L"}
	}
	answer := func(at time.Duration, f history.F) history.Op {
		return history.Op{Time: at, Client: "a", Type: history.OK, F: f, Lock: "L"}
	}
	tests := map[string]struct {
		ops  []history.Op
		want string
	}{
		"two open operations": {[]history.Op{invoke(1), invoke(2)}, "event 1 at 2ns: a begins an operation before its last one, event 0, was answered"},
		"answer to nothing":   {[]history.Op{answer(1, history.Acquire)}, "event 0 at 1ns: ok answers an operation that a has not begun"},
		"another answer":      {[]history.Op{invoke(1), answer(2, history.Release)}, "event 1 at 2ns: a release answers event 0, a acquire"},
		"time backwards":      {[]history.Op{invoke(time.Second), answer(time.Millisecond, history.Acquire)}, "event 1 at 0.001 s: time runs backwards: the event before it was at 1.000 s"},
		"no operation":        {[]history.Op{{Client: "a", Type: history.Invoke, F: "dance"}}, `event 0 at 0.000 s: "dance" is no operation: want acquire, extend, release, read or write`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for i := range tt.ops {
				tt.ops[i].Index = i
			}
			h := &history.History{Ops: tt.ops}
			if err := Validate(h); err == nil || err.Error() != tt.want {
				t.Errorf("Validate: %v\nwant %s", err, tt.want)
			}
			for _, r := range Run(context.Background(), h, All(), Options{}) {
				if r.Verdict != Inconclusive || r.Why != tt.want {
					t.Errorf("%s of a history that can't be judged: %v, %q", r.Property, r.Verdict, r.Why)
				}
			}
		})
	}
}

// A killed client's operations stay open, on each of its threads and however often it is killed, and its next process begins
// others.
func TestCrashOrphans(t *testing.T) {
	acquire := func(thread int) history.Op {
		return history.Op{Client: "a", Thread: thread, Type: history.Invoke, F: history.Acquire, Lock: "L"}
	}
	crash := history.Op{Client: "a", Type: history.Crash}
	ops := []history.Op{acquire(1), acquire(2), crash, acquire(2), acquire(1), crash, acquire(1), acquire(2)}
	for thread := 1; thread <= 2; thread++ {
		ops = append(ops, history.Op{Client: "a", Thread: thread, Type: history.OK, F: history.Acquire, Lock: "L"})
	}
	for i := range ops {
		ops[i].Index, ops[i].Time = i, time.Duration(i+1)
	}
	v, err := newView(&history.History{Ops: ops})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []answer{unknown, unknown, unknown, unknown, okay, okay} {
		if v.ops[i].ans != want {
			t.Errorf("acquire %d is %v, want %v", i+1, v.ops[i].ans, want)
		}
	}
	if v.ops[4].ret != 9 || v.ops[5].ret != 10 {
		t.Errorf("the last acquires are answered at %v and %v; want 9 and 10", v.ops[4].ret, v.ops[5].ret)
	}
}

// What others had begun when a client was killed is still theirs to answer.
func TestCrashOrphansNobodyElse(t *testing.T) {
	ops := []history.Op{
		{Time: 1, Client: "b", Type: history.Invoke, F: history.Acquire, Lock: "L"},
		{Time: 2, Client: "a", Type: history.Invoke, F: history.Acquire, Lock: "L"},
		{Time: 3, Client: "a", Type: history.Crash},
		{Time: 4, Client: "b", Type: history.Invoke, F: history.Acquire, Lock: "L"},
	}
	for i := range ops {
		ops[i].Index = i
	}
	const want = "event 3 at 4ns: b begins an operation before its last one, event 0, was answered"
	if err := Validate(&history.History{Ops: ops}); err == nil || err.Error() != want {
		t.Errorf("Validate: %v\nwant %s", err, want)
	}
}

func TestEmptyHistory(t *testing.T) {
	for _, r := range Run(context.Background(), &history.History{}, All(), Options{}) {
		if r.Verdict == Held || r.Verdict == Violated {
			t.Errorf("%s of nothing is %v", r.Property, r.Verdict)
		}
	}
}
