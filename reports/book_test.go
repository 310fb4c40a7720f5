package reports

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// book writes a history by hand. Times are milliseconds of the run.
type book struct {
	h    history.History
	ops  []labelled
	last int
}

type labelled struct {
	label string
	op    history.Op
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func newBook(tokens history.Tokens, check string) *book {
	b := &book{}
	b.h.Header = history.Header{
		Schema: history.Schema, Run: "9c21", Scenario: "long-pause", Seed: 42, Clients: []string{"c1", "c2", "c3", "c4"}, Nodes: []string{"n1"}, Separate: true,
		Locks:     []history.Lock{{Name: "orders", Provider: "redis/single", Contract: history.Contract{Expiry: history.Lease, TTL: 2 * time.Second, Tokens: tokens, OwnerChecked: true, ReleaseHeld: true}}},
		Resources: []history.Resource{{Name: "stock", Check: check, Store: "harness", Ordered: true}},
	}
	return b
}

func (b *book) add(label string, op history.Op) { b.ops = append(b.ops, labelled{label, op}) }

// op adds an operation: label and label+"?" (the call).
func (b *book) op(label, client string, f history.F, call, ret int, o history.Op) {
	o.Client, o.F, o.Lock = client, f, "orders"
	if f == history.Read || f == history.Write {
		o.Resource = "stock"
	}
	c := o
	c.Type, c.Time, c.Outcome, c.Valid, c.Error = history.Invoke, ms(call), "", 0, ""
	if f == history.Acquire {
		c.Token, c.Grant = 0, o.Grant
	}
	b.add(label+"?", c)
	if o.Type == "" {
		o.Type = history.OK
	}
	o.Time = ms(ret)
	b.add(label, o)
}

func (b *book) acquire(client string, grant, call, ret int, token uint64) {
	b.op(fmt.Sprintf("a%d", grant), client, history.Acquire, call, ret, history.Op{Grant: grant, Token: token, TTL: 2 * time.Second, Valid: ms(ret + 1998)})
}

func (b *book) write(label, client string, grant, call, ret int, token uint64, value, base int64, number int) {
	b.op(label, client, history.Write, call, ret, history.Op{Grant: grant, Token: token, Value: value, Base: base, Data: json.RawMessage(fmt.Sprint(number))})
}

func (b *book) release(client string, grant, call, ret int, t history.Type, outcome history.Outcome) {
	b.op(fmt.Sprintf("r%d", grant), client, history.Release, call, ret, history.Op{Grant: grant, Type: t, Outcome: outcome})
}

// fault adds a planned fault that was carried out; to 0: it did not end.
func (b *book) fault(number int, kind, text string, from, to int, targets ...string) {
	b.h.Header.Faults = append(b.h.Header.Faults, history.Fault{Number: number, Kind: kind, Text: kind + " the holder", MinHits: 1, Live: true, Trigger: "on"})
	o := history.Op{Client: "nemesis", Process: number, F: history.F(kind), Fault: number, Targets: targets, Text: text, Type: history.FaultBegin, Time: ms(from)}
	b.add(fmt.Sprintf("f%d", number), o)
	if to > 0 {
		o.Type, o.Time = history.FaultEnd, ms(to)
		b.add(fmt.Sprintf("f%d.", number), o)
	}
}

// finish orders the events.
func (b *book) finish() {
	slices.SortStableFunc(b.ops, func(x, y labelled) int { return int(x.op.Time - y.op.Time) })
	b.h.Ops = nil
	for i := range b.ops {
		b.ops[i].op.Index = i
		b.h.Ops = append(b.h.Ops, b.ops[i].op)
	}
}

// at finds the indexes of labels.
func (b *book) at(labels ...string) []int {
	var out []int
	for _, l := range labels {
		i := slices.IndexFunc(b.ops, func(x labelled) bool { return x.label == l })
		if i < 0 {
			panic("no event " + l)
		}
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

// outcome concludes as a run would.
func (b *book) outcome(s *scenarios.Scenario, results ...checker.Result) *runner.Outcome {
	if s == nil {
		s = &scenarios.Scenario{}
	}
	s.Name, s.Run.Duration = "long-pause", 20*time.Second
	for i := range results {
		results[i].Count = max(results[i].Count, len(results[i].Findings))
	}
	o := &runner.Outcome{
		Run: "9c21", Dir: "runs/20261129T132210-long-pause-9c21", Scenario: s, Lock: "redis/single", Kind: "process",
		Cluster: "redis-server 7.0.15, 1 process", Separate: true, Seed: 42, Began: time.Date(2026, 11, 29, 13, 22, 10, 0, time.UTC),
		History: &b.h, Results: results, Again: "locktest run runs/20261129T132210-long-pause-9c21/scenario.resolved.yaml",
	}
	o.Metrics = runner.Measure(&b.h)
	o.Conclusion = runner.Conclude(s, results, o.Metrics)
	return o
}

func held(property, summary string) checker.Result {
	return checker.Result{Property: property, Verdict: checker.Held, Complete: true, Summary: summary}
}

func violated(property, summary string, findings ...checker.Finding) checker.Result {
	return checker.Result{Property: property, Verdict: checker.Violated, Complete: true, Summary: summary, Findings: findings}
}
