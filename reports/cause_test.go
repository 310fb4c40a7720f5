package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

// lateRelease: a release that a partition held back frees the lock of the next holder; what follows is a cascade.
func lateRelease() *runner.Outcome {
	b := newBook(history.PerGrant, history.IgnoresToken)
	b.acquire("c1", 1, 1000, 1010, 1)
	b.fault(1, "partition", "cut c1 off", 1100, 4330, "c1")
	b.op("r1", "c1", history.Release, 1200, 3200, history.Op{Grant: 1, Type: history.Info, Error: "i/o timeout"})
	b.acquire("c4", 2, 4100, 4124, 2)
	b.acquire("c1", 3, 4331, 4332, 3)
	b.op("read3", "c1", history.Read, 4333, 4334, history.Op{Grant: 3, Token: 3, Value: 1, Data: []byte("16")})
	b.write("w2", "c4", 2, 4390, 4391, 2, 2, 1, 17)
	b.release("c4", 2, 4392, 4393, history.OK, "")
	b.acquire("c2", 4, 4394, 4395, 4)
	b.write("w3", "c1", 3, 4600, 4601, 3, 3, 1, 17)
	b.release("c1", 3, 4602, 4603, history.OK, "")
	b.release("c2", 4, 4604, 4605, history.OK, "")
	b.finish()
	double := func(a, c string, first, second, from, to, fault int) checker.Finding {
		return checker.Finding{Kind: checker.DoubleGrant, Lock: "orders", Ops: b.at(a, c), Grants: []int{first, second}, Blame: checker.Service, Strength: checker.Definite, At: ms(from), Until: ms(to), Fault: fault, Message: "Two were entitled."}
	}
	exclusion := violated(checker.MutualExclusion, "4 holds, 2 double grants", double("a3", "a4", 3, 4, 4395, 4602, 0), double("a2", "a3", 2, 3, 4332, 4392, 1))
	exclusion.Kinds = map[string]checker.Verdict{checker.DoubleGrant: checker.Violated}
	return b.outcome(nil, exclusion,
		violated(checker.ResourceSafety, "2 writes, 1 stale, 1 lost update",
			checker.Finding{Kind: checker.LostUpdate, Lock: "orders", Resource: "stock", Ops: b.at("w2?", "w2", "w3?", "w3"), Grants: []int{2, 3}, Blame: checker.Service, Strength: checker.Definite, At: ms(4391), Until: ms(4601), Fault: 1, Fenced: "yes", Message: "Version 2 was lost."},
			checker.Finding{Kind: checker.WrongCount, Lock: "orders", Resource: "stock", Ops: b.at("w3"), Blame: checker.Service, Strength: checker.Definite, At: ms(4605), Message: "\"stock\" ended at 17."}),
		held(checker.Coverage, "1 planned fault, once"),
	)
}

func TestFirstOfACascade(t *testing.T) {
	o := lateRelease()
	groups := Groups(o.History, o.Results)
	first := groups[0].Incidents[0]
	if diff := cmp.Diff([]int{2, 3}, first.Grants); diff != "" {
		t.Fatalf("the story begins elsewhere (-want +got):\n%s", diff)
	}
	text := written(t, Text(Style{}), o)
	for _, want := range []string{
		"c1's release of \"orders\" (token 1, over at 3.008), sent at 1.200", "held back by \"cut c1 off\" (1.100 to 4.330)",
		"1.200    c1  released orders   no answer: it may arrive later", "partition ends, after 3.230 s",
		"c1's 17 with token 3, written at 4.601, was computed from the old 16, without c4's 17 with token 2: an update is lost",
		"2 × double grant, first at 4.332", "1 × wrong count: \"stock\" ended at 17.",
	} {
		if !strings.Contains(unwrapped(text), unwrapped(want)) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "nothing that locktest did explains it") {
		t.Errorf("a cause can be shown:\n%s", text)
	}
}

// TestLaterFaultIsNoCause: what began after two held the lock did not bring that about.
func TestLaterFaultIsNoCause(t *testing.T) {
	with := func(from int) string {
		b := newBook(history.NoTokens, history.IgnoresToken)
		b.acquire("c1", 7, 3100, 3102, 0)
		if from < 3200 {
			b.fault(1, "pause", "pause c1", from, 3600, "c1")
		}
		b.acquire("c3", 8, 3200, 3201, 0)
		if from > 3200 {
			b.fault(1, "pause", "pause c1", from, 3600, "c1")
		}
		b.release("c1", 7, 3702, 3703, history.Fail, history.NotHeld)
		b.release("c3", 8, 3801, 3802, history.OK, "")
		b.finish()
		return story(t, b.outcome(nil, violated(checker.MutualExclusion, "2 holds, 1 overlap", checker.Finding{
			Kind: checker.DoubleGrant, Lock: "orders", Ops: b.at("a7", "r7?", "a8"), Grants: []int{7, 8}, Blame: checker.Service, Strength: checker.Definite, At: ms(3201), Until: ms(3702), Message: "Two were entitled."})))
	}
	const cause, none = "Pause c1, from", "began after the harm was done"
	if text := with(3400); strings.Contains(text, cause) || !strings.Contains(text, none) {
		t.Errorf("a pause that came later:\n%s", text)
	}
	if text := with(3150); !strings.Contains(text, cause) && !strings.Contains(text, "The pause of c1") || strings.Contains(text, none) {
		t.Errorf("a pause that came before:\n%s", text)
	}
}

// unwrapped joins lines, so that a text can be found wherever it was broken.
func unwrapped(s string) string { return strings.Join(strings.Fields(s), " ") }

func story(t *testing.T, o *runner.Outcome) string {
	t.Helper()
	var b bytes.Buffer
	if err := NewStory(o.History, Groups(o.History, o.Results)[0].Incidents[0], Style{}).Write(&b); err != nil {
		t.Fatal(err)
	}
	return unwrapped(b.String())
}

func TestWhoIsToBlame(t *testing.T) {
	idle := func(separate, told bool) *runner.Outcome {
		b := newBook(history.PerGrant, history.IgnoresToken)
		b.h.Header.Separate = separate
		b.acquire("c2", 1, 1000, 1002, 1)
		b.fault(1, "pause", "pause c2", 1500, 4500, "c2")
		b.acquire("c4", 2, 3000, 3050, 2)
		if told {
			b.add("lost", history.Op{Client: "c2", Type: history.Lost, Grant: 1, Lock: "orders", Time: ms(3500)})
		}
		b.release("c2", 1, 4600, 4601, history.Fail, history.NotHeld)
		b.release("c4", 2, 4700, 4701, history.OK, history.Gone)
		b.finish()
		return b.outcome(nil, violated(checker.MutualExclusion, "2 holds, 1 stale holder", checker.Finding{
			Kind: checker.StaleHolder, Lock: "orders", Ops: b.at("a1", "a2"), Grants: []int{1, 2}, Blame: checker.ClientParty, Strength: checker.Hazard, At: ms(3050), Until: ms(3500), Fault: 1, Message: "c2 went on."}))
	}
	for name, c := range map[string]struct {
		o        *runner.Outcome
		has, not string
	}{
		"a client that did nothing":     {idle(true, false), "Nobody wrote, or extended a lease, after the lease had ended", "What broke"},
		"a paused process":              {idle(true, false), "c2 cannot notice, it is paused", "by now"},
		"clients in one process":        {idle(false, true), "was told that it had lost orders", "cannot notice"},
		"a client that was told":        {idle(true, true), "was told that it had lost orders", "cannot notice"},
		"a client that wrote":           {staleWrite(nil), "What broke: the client c2, which acted on a lease that was over; the resource", "the lock ("},
		"a lock that granted twice":     {overlap(), "What broke: the lock (its algorithm, client library or service)", "the service, which"},
		"a release that proves nothing": {idle(true, false), "answer: ok (no proof that it was held)", "not held any more"},
		"an overlap has one number":     {overlap(), "held \"orders\" at the same time for 0.401 s", "401 ms"},
		"a shortened lease":             {overlap(), "lease 2.000 s (valid until 5.100)", "(ends"},
	} {
		t.Run(name, func(t *testing.T) {
			text := story(t, c.o)
			if !strings.Contains(text, c.has) || strings.Contains(text, c.not) {
				t.Errorf("want %q and not %q in:\n%s", c.has, c.not, text)
			}
		})
	}
}

// TestResumeComesFirst: the end of a pause is recorded once it is healed, after what the client did at once.
func TestResumeComesFirst(t *testing.T) {
	b := newBook(history.PerGrant, history.IgnoresToken)
	b.acquire("c2", 1, 1000, 1002, 1)
	b.fault(1, "pause", "pause c2", 1500, 4510, "c2")
	b.acquire("c4", 2, 3000, 3050, 2)
	b.write("w", "c2", 1, 4501, 4502, 1, 2, 1, 5)
	b.finish()
	o := b.outcome(nil, violated(checker.MutualExclusion, "2 holds", checker.Finding{Kind: checker.StaleHolder, Lock: "orders", Ops: b.at("a1", "a2", "w"), Grants: []int{1, 2}, Blame: checker.ClientParty, Strength: checker.Hazard, At: ms(3050), Until: ms(4510), Fault: 1, Message: "c2 went on."}))
	text := story(t, o)
	resumed, wrote := strings.Index(text, "4.501 ● c2 resumed by now"), strings.Index(text, "c2 wrote 5")
	if resumed < 0 || wrote < resumed {
		t.Errorf("resumed at %d, wrote at %d of:\n%s", resumed, wrote, text)
	}
}

func TestFenceThatRepeats(t *testing.T) {
	b := newBook(history.PerGrant, history.IgnoresToken)
	b.acquire("c1", 1, 500, 510, 7)
	b.release("c1", 1, 600, 601, history.OK, "")
	b.acquire("c2", 2, 1000, 1010, 1)
	b.write("w", "c2", 2, 1100, 1101, 1, 2, 1, 5)
	b.finish()
	finding := checker.Finding{Kind: checker.StaleWrite, Lock: "orders", Resource: "stock", Ops: b.at("a2", "w"), Grants: []int{2}, Blame: checker.Service, Strength: checker.Definite, At: ms(1101), Fenced: "yes", Message: "It took it."}
	if text := story(t, b.outcome(nil, violated(checker.ResourceSafety, "1 write", finding))); !strings.Contains(text, "Not reliably: tokens of this lock repeat or go back: 1 at 1.010, after 7 at 0.510.") {
		t.Error(text)
	}
}

func TestInterruptedScreen(t *testing.T) {
	o := inconclusive()
	o.Interrupted = "SIGINT"
	text := unwrapped(written(t, Text(Style{}), o))
	if !strings.Contains(text, "Interrupted by SIGINT: what was recorded until then is judged; how the run would have ended was not tested.") || strings.Contains(text, "longer") {
		t.Error(text)
	}
}

func TestUnfinishedHistory(t *testing.T) {
	for name, c := range map[string]struct {
		phases []string
		cut    bool
	}{"whole": {[]string{history.PhaseWarmup, history.PhaseEnd}, false}, "cut off": {[]string{history.PhaseWarmup, history.PhaseFaults}, true}, "from elsewhere": {nil, false}} {
		t.Run(name, func(t *testing.T) {
			b := newBook(history.NoTokens, history.IgnoresToken)
			for i, p := range c.phases {
				b.add(p, history.Op{Type: history.Phase, Name: p, Time: ms(i)})
			}
			b.finish()
			o := b.outcome(nil, checker.Result{Property: checker.MutualExclusion, Why: "nothing to compare"})
			text := unwrapped(written(t, Text(Style{}), o))
			if strings.Contains(text, "The run did not reach its end: what was recorded until then is judged") != c.cut || strings.Contains(text, "longer") == c.cut {
				t.Error(text)
			}
		})
	}
}

func TestAcceptedHazard(t *testing.T) {
	o := staleWrite(nil)
	o.Results = o.Results[:1]
	o.Conclusion = runner.Conclusion{Word: runner.WordAccepted, Accepted: []runner.Condition{{Name: "violated", Property: "mutual-exclusion/stale-holder", Text: "c2 went on."}}}
	text := written(t, Text(Style{}), o)
	if !strings.HasPrefix(text, "NO UNEXPECTED VIOLATION\n") || !strings.Contains(unwrapped(text), "A hazard that the scenario accepts: c2 and c4 held") {
		t.Error(text)
	}
}

func TestScreensAreShort(t *testing.T) {
	for name, o := range cases() {
		limit := 50
		if len(Groups(o.History, o.Results)) == 0 {
			limit = 24
		}
		if n := strings.Count(written(t, Text(Style{}), o), "\n"); n > limit {
			t.Errorf("%s: %d lines, at most %d are wanted", name, n, limit)
		}
	}
}

// TestNoCauseIsMadeUp: a holder's own release, and one that a stopped client could not have sent, were not held back.
func TestNoCauseIsMadeUp(t *testing.T) {
	build := func(kind string, release int, to string) string {
		b := newBook(history.PerGrant, history.IgnoresToken)
		b.acquire("c1", 1, 1000, 1010, 1)
		if kind != "" {
			b.fault(1, kind, kind+" "+to, 1100, 4330, to)
		}
		b.op("r1", "c1", history.Release, release, 4332, history.Op{Grant: 1})
		b.acquire("c2", 2, 4000, 4100, 2)
		b.acquire("c3", 3, 4333, 4340, 3)
		b.release("c2", 2, 4400, 4401, history.OK, "")
		b.release("c3", 3, 4500, 4501, history.OK, "")
		b.finish()
		return story(t, b.outcome(nil, violated(checker.MutualExclusion, "3 holds", checker.Finding{Kind: checker.DoubleGrant, Lock: "orders", Ops: b.at("a2", "a3"), Grants: []int{2, 3}, Blame: checker.Service, Strength: checker.Definite, At: ms(4340), Until: ms(4400), Message: "Two."})))
	}
	const held, freed = "was held back by", "it may have freed the lock while c2 held it"
	for name, c := range map[string]struct {
		text      string
		has, lack string
	}{
		"a cut link lets it through":      {build("partition", 1200, "c1"), held, "nothing that locktest did"},
		"a node that stood still":         {build("pause", 1200, "n1"), held, "nothing that locktest did"},
		"a stopped client sends it late":  {build("pause", 4331, "c1"), freed, held},
		"a slow answer without any fault": {build("", 1200, ""), freed, held},
		"somebody else's link was cut":    {build("partition", 1200, "c4"), freed, held},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(c.text, c.has) || strings.Contains(c.text, c.lack) {
				t.Errorf("want %q and not %q in:\n%s", c.has, c.lack, c.text)
			}
		})
	}
	if text := story(t, fenceOrder()); !strings.Contains(text, "nothing that locktest did explains it") {
		t.Error(text)
	}
}

// A pause that began after the release of a hold is not said to have outlasted its lease.
func TestPauseAfterTheRelease(t *testing.T) {
	f := &fault{kind: "pause", text: "pause c2", targets: []string{"c2"}, from: ms(1255), to: ms(2600)}
	for _, c := range []struct {
		stop int
		want bool
	}{{1205, false}, {2601, true}} {
		s := &Story{scene: &scene{grants: []*grant{{client: "c2", granted: ms(1000), leaseEnd: ms(2037), stop: ms(c.stop)}}}}
		if got := s.faultCause(f); strings.Contains(got, "outlasted") != c.want {
			t.Errorf("released at %d: %s", c.stop, got)
		}
	}
}
