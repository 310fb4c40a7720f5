package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/history"
)

// Operations of one owner that touch are in order: nothing is open.
func TestEngineTouchingOperationsOfOneOwner(t *testing.T) {
	h := &history.History{Header: history.Header{Locks: []history.Lock{{Name: "L", Contract: strict()}}}}
	at := func(at int, typ history.Type, f history.F) {
		h.Ops = append(h.Ops, history.Op{Index: len(h.Ops), Time: time.Duration(at), Client: "a", Type: typ, F: f, Lock: "L"})
	}
	at(0, history.Invoke, history.Acquire)
	at(10, history.OK, history.Acquire)
	at(10, history.Invoke, history.Release)
	at(20, history.OK, history.Release)
	at(20, history.Invoke, history.Acquire)
	at(30, history.OK, history.Acquire)
	v, err := newView(h)
	if err != nil {
		t.Fatal(err)
	}
	n := v.locks[0].holds()
	if n.open != 0 || len(n.breaches) != 0 || len(n.holds) != 2 {
		t.Errorf("%d open owners, %d breaches, %d holds; want none, none, 2", n.open, len(n.breaches), len(n.holds))
	}
	if !oneAtATime(v.deedsOf(&v.locks[0])) {
		t.Error("the general engine takes them for overlapping")
	}
}

// puzzle is a legal history in which many configurations are possible for long: owners with unknown releases that go
// on, of a semaphore with room for all.
func puzzle(owners int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "lock L permits=%d owner-checked release-held\n", owners)
	for i := range owners {
		fmt.Fprintf(&b, "c%d:A[0,1] c%d:R[2,?3] c%d:R[4,?5] c%d:A[6,%d]\n", i, i, i, i, 20+i)
	}
	b.WriteString("last:A[0,100]\n")
	return b.String()
}

func TestEngineBudget(t *testing.T) {
	h := parsed(t, puzzle(5))
	permits := func(opt Options) Result {
		return Run(context.Background(), h, []Checker{For(Permits)}, opt)[0]
	}
	if r := permits(Options{}); r.Verdict == Violated || !r.Complete {
		t.Fatalf("with room: %v, complete=%v, %q", r.Verdict, r.Complete, r.Why)
	}
	r := permits(Options{Configurations: 50})
	if r.Verdict != Inconclusive || r.Complete || !strings.Contains(r.Why, "more than 50 configurations were possible") {
		t.Errorf("with 50 configurations: %v, complete=%v, %q; want inconclusive and why", r.Verdict, r.Complete, r.Why)
	}
	r = permits(Options{Memory: 24 << 10})
	if r.Verdict != Inconclusive || !strings.Contains(r.Why, "MiB") {
		t.Errorf("with 24 KiB: %v, %q; want inconclusive and why", r.Verdict, r.Why)
	}
	r = permits(Options{Memory: 100})
	if r.Verdict != Inconclusive || !strings.Contains(r.Why, "over the limit") {
		t.Errorf("with 100 bytes: %v, %q; want inconclusive and why", r.Verdict, r.Why)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := decideDeeds(ctx, nil, &history.Contract{}, budget{configs: 1}); !got.legal {
		t.Errorf("nothing to do, stopped: %+v, want legal", got)
	}
	v, err := newView(h)
	if err != nil {
		t.Fatal(err)
	}
	if got := decideDeeds(ctx, v.deedsOf(&v.locks[0]), &v.locks[0].contract, budget{configs: 1}); got.gaveUp != "checking was stopped" {
		t.Errorf("stopped: %+v", got)
	}
}

// A limit that is reached leaves what was found before.
func TestEngineBudgetKeepsFindings(t *testing.T) {
	h := parsed(t, puzzle(5)+"lock M owner-checked release-held\na:A[200,210]lock=M b:A[220,230]lock=M a:R[250,260]lock=M")
	rs := Run(context.Background(), h, []Checker{For(Permits), For(MutualExclusion)}, Options{Configurations: 50})
	if rs[0].Verdict != Inconclusive || rs[1].Verdict != Violated {
		t.Errorf("%v and %v, want inconclusive and violated", rs[0].Verdict, rs[1].Verdict)
	}
}

// crowdOf are owners that all ask at once; each holds and releases, one after the other.
func crowdOf(n int, asked string) string {
	var b strings.Builder
	b.WriteString("lock L " + asked + " owner-checked release-held\n")
	for i := range n {
		fmt.Fprintf(&b, "c%d:A[0,%d] c%d:R[%d,%d]\n", i, 10*i+5, i, 10*i+6, 10*i+7)
	}
	return b.String()
}

func TestEnginePlaces(t *testing.T) {
	tests := map[string]struct {
		n     int
		asked string
		want  string
	}{
		"as many as there is room for": {maxPending, "", ""},
		"one more pending":             {maxPending + 1, "", "more than 128 operations were pending"},
		"as many holders":              {crowdPlaces, "permits=1", ""},
		"one more holder":              {crowdPlaces + 1, "permits=1", "more than 128 owners may have held at a time"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, err := newView(parsed(t, crowdOf(tt.n, tt.asked)))
			if err != nil {
				t.Fatal(err)
			}
			got := decideDeeds(context.Background(), v.deedsOf(&v.locks[0]), &v.locks[0].contract, budget{configs: 1000})
			if got.gaveUp != tt.want || got.legal != (tt.want == "") {
				t.Errorf("legal=%v, gave up: %q; want %q", got.legal, got.gaveUp, tt.want)
			}
			if tt.want == "" && got.widest != 1 {
				t.Errorf("%d configurations at a time, want 1: nothing is open", got.widest)
			}
		})
	}
}

// Places are given again once their owners are done.
func TestEnginePlacesAgain(t *testing.T) {
	var b strings.Builder
	b.WriteString("lock L permits=1 owner-checked release-held\n")
	for i := range 3 * crowdPlaces {
		fmt.Fprintf(&b, "c%d:A[%d,%d] c%d:R[%d,%d]\n", i, 10*i, 10*i+5, i, 10*i+6, 10*i+7)
	}
	v, err := newView(parsed(t, b.String()))
	if err != nil {
		t.Fatal(err)
	}
	ds := v.deedsOf(&v.locks[0])
	if !seatOwners(ds, 1) {
		t.Error("owners one after the other need more than one place")
	}
}

// Owners that touch may both hold at that moment, so they need a place each; and deeds come by their calls.
func TestEnginePlacesOfOwnersThatTouch(t *testing.T) {
	v, err := newView(parsed(t, "lock L permits=2 owner-checked release-held\na:A[0,5] b:A[10,12] a:R[7,10] b:R[20,30]"))
	if err != nil {
		t.Fatal(err)
	}
	ds := v.deedsOf(&v.locks[0])
	if !slices.IsSortedFunc(ds, func(a, b deed) int { return cmp.Compare(a.call, b.call) }) {
		t.Errorf("not by call: %+v", ds)
	}
	if seatOwners(ds, 1) {
		t.Error("one place for both")
	}
	if !seatOwners(ds, 2) {
		t.Error("two places are not enough")
	}
}

// An owner that goes on and on with unknown releases, each settled by the next acquire: what is used up is forgotten.
func TestEngineForgets(t *testing.T) {
	const rounds = 20_000
	ds := make([]deed, 0, 2*rounds)
	for i := range time.Duration(rounds) {
		ds = append(ds,
			deed{call: 10 * i, ret: 10*i + 1, op: int32(2 * i), act: acquire, ans: okay, weight: 1},
			deed{call: 10*i + 2, ret: forever, op: int32(2*i + 1), act: release, ans: unknown, weight: 1})
	}
	f := newFrontier[mutexState](mutexSpec{limit: 1}, ds, budget{configs: 100})
	if got := f.run(context.Background()); !got.legal || got.widest > 3 {
		t.Errorf("%+v, want legal, with 3 configurations at most", got)
	}
	if f.uses.bytes > 64<<10 {
		t.Errorf("%d bytes of used deeds are kept", f.uses.bytes)
	}
}

// An owner whose release is answered while its acquire is still open: the acquire took effect first.
func TestEngineOverlappingOwner(t *testing.T) {
	ds := []deed{
		{call: 0, ret: 50, op: 0, act: acquire, ans: okay, weight: 1},
		{call: 10, ret: 20, op: 1, act: release, ans: okay, weight: 1},
		{call: 30, ret: 40, op: 2, owner: 1, act: acquire, ans: okay, weight: 1},
	}
	b := budget{configs: 100}
	if got := decideDeeds(context.Background(), ds, &history.Contract{}, b); !got.legal {
		t.Errorf("%+v, want legal", got)
	}
	ds[2].call, ds[2].ret = 2, 5 // the other is granted before, and never releases
	if got := decideDeeds(context.Background(), ds, &history.Contract{}, b); got.legal || got.gaveUp != "" {
		t.Errorf("%+v, want illegal", got)
	}
}

func TestEngineUses(t *testing.T) {
	u := newUseTable()
	set := func(kinds ...int32) int32 {
		s := int32(0)
		for _, k := range kinds {
			s = u.with(s, k)
		}
		return s
	}
	tests := map[string]struct {
		a, b int32
		want bool
	}{
		"nothing":          {set(), set(1), true},
		"the same":         {set(1, 2), set(2, 1), true},
		"one more":         {set(1), set(1, 1), true},
		"one less":         {set(1, 1), set(1), false},
		"another":          {set(1), set(2), false},
		"another, before":  {set(2), set(1), false},
		"among others":     {set(2), set(1, 2, 3), true},
		"of two, one less": {set(1, 2, 2), set(1, 2, 3), false},
		"of two, one gone": {set(1, 3), set(1, 2), false},
		"equal in one":     {set(1), set(1, 2), true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := u.within(tt.a, tt.b); got != tt.want {
				t.Errorf("within(%v, %v) = %v, want %v", u.sets[tt.a], u.sets[tt.b], got, tt.want)
			}
		})
	}
	if s := u.minus(set(1, 1, 2), 1, 2); s != set(2) {
		t.Errorf("two of kind 1 taken away leave %v", u.sets[s])
	}
}
