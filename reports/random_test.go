package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// TestAnyHistory renders histories without any sense: nothing panics, stories stay short, lines stay narrow.
func TestAnyHistory(t *testing.T) {
	for seed := range uint64(400) {
		o := anyOutcome(rand.New(rand.NewPCG(seed, 1)))
		for _, style := range []Style{{}, {ASCII: true, Width: 60}, {Color: true, Width: 100}} {
			if err := Text(style)(io.Discard, o); err != nil {
				t.Fatal(err)
			}
		}
		text := written(t, Text(Style{}), o)
		narrow(t, text, 80, o)
		if strings.ContainsRune(text, '\x1b') {
			t.Fatalf("seed %d: an escape sequence", seed)
		}
		if !json.Valid([]byte(written(t, JSON, o))) {
			t.Fatalf("seed %d: no JSON", seed)
		}
		for _, g := range Groups(o.History, o.Results) {
			if events, _ := newScene(o.History, &g.Incidents[0]).events(); len(events) > maxEvents {
				t.Fatalf("seed %d: %d events", seed, len(events))
			}
		}
	}
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func anyOutcome(r *rand.Rand) *runner.Outcome {
	h := &history.History{Header: newBook(history.PerGrant, history.IgnoresToken).h.Header}
	h.Header.Faults = []history.Fault{{Number: 1, Kind: "pause"}, {Number: 2, Kind: "kill"}}
	now := time.Duration(0)
	for i := range r.IntN(60) {
		now += time.Duration(r.IntN(2)*r.IntN(1000)) * time.Millisecond
		h.Ops = append(h.Ops, anyOp(r, i, now))
	}
	o := &runner.Outcome{Run: "1", Dir: "runs/1", Scenario: &scenarios.Scenario{Name: "any"}, Lock: "redis/single", History: h, Again: "locktest run runs/1/scenario.resolved.yaml"}
	for _, p := range []string{checker.MutualExclusion, checker.ResourceSafety, checker.Fencing, checker.Liveness, checker.Coverage} {
		res := checker.Result{Property: p, Verdict: checker.Verdict(r.IntN(4)), Summary: "some \x1b[1mwords", Why: pick(r, "", "a reason")}
		for range r.IntN(4) {
			res.Findings = append(res.Findings, checker.Finding{
				Kind: pick(r, checker.DoubleGrant, checker.StaleHolder, "x"), Lock: pick(r, "orders", ""), Message: pick(r, "", "it is wrong"), Resource: "stock",
				Ops: []int{r.IntN(80) - 5, r.IntN(80)}, Grants: pick(r, nil, []int{1, 2}, []int{r.IntN(9)}), Strength: pick(r, checker.Definite, checker.Hazard, ""),
				Blame: pick(r, checker.Service, "", checker.ClientParty), At: time.Duration(r.IntN(9000)) * time.Millisecond, Until: time.Duration(r.IntN(9000)) * time.Millisecond,
				Fault: r.IntN(4), Fenced: pick(r, "", "yes", "no", "no tokens", "not known: why"),
			})
		}
		o.Results = append(o.Results, res)
	}
	o.Metrics = runner.Measure(&history.History{})
	o.Conclusion = runner.Conclude(o.Scenario, o.Results, o.Metrics)
	return o
}

func anyOp(r *rand.Rand, i int, now time.Duration) history.Op {
	types := []history.Type{history.Invoke, history.OK, history.Fail, history.Info, history.Lost, history.Renewed, history.Crash, history.FaultBegin, history.FaultEnd, history.FaultMissed, history.HostStall, history.Observed, history.Phase}
	return history.Op{
		Index: i, Time: now, Client: fmt.Sprintf("c%d", 1+r.IntN(4)), Type: types[r.IntN(len(types))], Process: r.IntN(2), Lock: "orders", Resource: "stock",
		F: pick(r, history.Acquire, history.Extend, history.Release, history.Read, history.Write, "pause"), Grant: r.IntN(6), Token: uint64(r.IntN(5)),
		TTL: time.Duration(r.IntN(3)) * time.Second, Valid: time.Duration(r.IntN(3)) * 3 * time.Second, Outcome: pick(r, "", history.Busy, history.NotHeld, history.Rejected, history.Late, history.Gone),
		Value: int64(r.IntN(9)), Fault: r.IntN(4), Targets: pick(r, nil, []string{"c1"}, []string{"n1", "c2"}), Name: "warmup", Text: pick(r, "", "pause c1", "\x1b[2J"), Error: "an error",
	}
}

func TestSafely(t *testing.T) {
	var b bytes.Buffer
	bad := Safely(func(w io.Writer, _ *runner.Outcome) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		panic("no such lane")
	})
	if err := bad(&b, cleanRun()); err == nil || !strings.Contains(err.Error(), "no such lane") || b.Len() > 0 {
		t.Errorf("error %v, %q written", err, b.String())
	}
	if err := Safely(JSON)(&b, cleanRun()); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("error %v", err)
	}
	broken := errors.New("disk is full")
	if err := Safely(func(io.Writer, *runner.Outcome) error { return broken })(&b, nil); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func ExampleText() {
	o := &runner.Outcome{
		Run: "7f3a", Scenario: &scenarios.Scenario{Name: "contention"}, Lock: "memory/mutex", Seed: 42,
		Results:    []checker.Result{{Property: checker.MutualExclusion, Verdict: checker.Held, Summary: "7 911 holds, 0 overlaps"}},
		Conclusion: runner.Conclusion{Word: runner.WordNone},
		Again:      "locktest run runs/7f3a/scenario.resolved.yaml",
	}
	var b bytes.Buffer
	if err := Text(Style{})(&b, o); err != nil {
		fmt.Println(err)
	}
	fmt.Print(b.String())
	// Output:
	// NO VIOLATION FOUND   contention   memory/mutex   seed 42   run 7f3a
	//
	//   mutual exclusion  held          7 911 holds, 0 overlaps
	//
	//   This is evidence, not proof.
	//
	//   again    locktest run runs/7f3a/scenario.resolved.yaml
}
