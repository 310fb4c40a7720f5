package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// hostileName is what a log may have for the name of a client: it clears the screen, and has lines.
const hostileName = "web\x1b[2J\n\r1"

// TestNamesAreCleaned: whatever a name has in it, the screen is the same as with blanks there.
func TestNamesAreCleaned(t *testing.T) {
	for _, make := range []func() *runner.Outcome{func() *runner.Outcome { return staleWrite(nil) }, overlap, strangersRelease, stuckLock, unknownAcquire, cleanRun} {
		told := func(name string) string {
			o := make()
			for i := range o.History.Ops {
				op := &o.History.Ops[i]
				op.Client = renamed(op.Client, name)
				op.Targets = slices.Clone(op.Targets)
				for k, target := range op.Targets {
					op.Targets[k] = renamed(target, name)
				}
			}
			o.Scenario.Name, o.Lock, o.Run, o.Dir, o.Again, o.Report = name, name, name, name, "locktest check "+name, name
			return written(t, Text(Style{}), o) + written(t, Verdict(Style{}), o)
		}
		got := told(hostileName)
		if diff := cmp.Diff(told(clean(hostileName)), got); diff != "" {
			t.Errorf("a name changes the screen (-clean +hostile):\n%s", diff)
		}
		if strings.ContainsRune(got, '\x1b') {
			t.Error("an escape sequence is on the screen")
		}
	}
}

func renamed(client, name string) string {
	if client == "nemesis" || client == "" || client == "n1" {
		return client
	}
	return name + client
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
	o := &runner.Outcome{Run: "1", Dir: "runs/1", Scenario: &scenarios.Scenario{Name: pick(r, "any", hostileName)}, Lock: pick(r, "redis/single", hostileName), History: h, Again: "locktest run runs/1/scenario.resolved.yaml"}
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
	o.Metrics = runner.Measure(h)
	o.Conclusion = runner.Conclude(o.Scenario, o.Results, o.Metrics)
	return o
}

func anyOp(r *rand.Rand, i int, now time.Duration) history.Op {
	types := []history.Type{history.Invoke, history.OK, history.Fail, history.Info, history.Lost, history.Renewed, history.Crash, history.FaultBegin, history.FaultEnd, history.FaultMissed, history.HostStall, history.Observed, history.Phase}
	return history.Op{
		Index: i, Time: now, Client: pick(r, "c1", "c2", "c3", hostileName), Type: types[r.IntN(len(types))], Process: r.IntN(2), Lock: "orders", Resource: "stock",
		F: pick(r, history.Acquire, history.Extend, history.Release, history.Read, history.Write, "pause"), Grant: r.IntN(6), Token: uint64(r.IntN(5)),
		TTL: time.Duration(r.IntN(3)) * time.Second, Valid: time.Duration(r.IntN(3)) * 3 * time.Second, Outcome: pick(r, "", history.Busy, history.NotHeld, history.Rejected, history.Late, history.Gone),
		Value: int64(r.IntN(9)), Fault: r.IntN(4), Targets: pick(r, nil, []string{"c1"}, []string{hostileName}, []string{"n1", "c2"}), Name: "warmup", Text: pick(r, "", "pause c1", "\x1b[2J"), Error: "an error",
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
