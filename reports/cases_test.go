package reports

import (
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// cases are the outcomes that the golden files show.
func cases() map[string]*runner.Outcome {
	return map[string]*runner.Outcome{
		"stale-write":        staleWrite(nil),
		"stale-write-wanted": staleWrite(&scenarios.Scenario{Expect: map[string]scenarios.Expectation{"mutual-exclusion/stale-holder": {Verdict: "any"}, "resource-safety": {Verdict: "violated", Because: "the resource ignores tokens"}}}),
		"overlap":            overlap(),
		"fence-order":        fenceOrder(),
		"strangers-release":  strangersRelease(),
		"stuck-lock":         stuckLock(),
		"unknown-acquire":    unknownAcquire(),
		"crashed-holder":     crashedHolder(),
		"clean":              cleanRun(),
		"inconclusive":       inconclusive(),
		"hostile":            hostile(),
	}
}

// staleWrite: a holder is paused beyond its lease; the other one writes; then the first does.
func staleWrite(s *scenarios.Scenario) *runner.Outcome {
	b := newBook(history.PerGrant, history.IgnoresToken)
	b.acquire("c2", 41, 12002, 12004, 41)
	b.op("read2", "c2", history.Read, 12005, 12006, history.Op{Grant: 41, Token: 41, Value: 7, Data: []byte("269")})
	b.fault(1, "pause", "pause c2 (SIGSTOP)", 12310, 15522, "c2")
	b.acquire("c4", 42, 13020, 14051, 42)
	b.op("read4", "c4", history.Read, 14052, 14053, history.Op{Grant: 42, Token: 42, Value: 7, Data: []byte("269")})
	b.write("w42", "c4", 42, 14119, 14120, 42, 8, 7, 270)
	b.write("w41", "c2", 41, 15522, 15523, 41, 9, 7, 270)
	b.release("c2", 41, 15529, 15530, history.Fail, history.NotHeld)
	b.release("c4", 42, 15900, 15902, history.OK, "")
	b.acquire("c1", 43, 15903, 15905, 43)
	b.release("c1", 43, 15930, 15932, history.OK, "")
	b.finish()
	return b.outcome(s,
		checker.Result{
			Property: checker.MutualExclusion, Verdict: checker.Violated, Complete: true, Summary: "3 holds, 1 overlap outside a lease",
			Kinds: map[string]checker.Verdict{checker.DoubleGrant: checker.Held, checker.StaleHolder: checker.Violated},
			Findings: []checker.Finding{{
				Kind: checker.StaleHolder, Lock: "orders", Ops: b.at("a41", "r41?", "a42"), Grants: []int{41, 42}, Blame: checker.ClientParty, Strength: checker.Hazard, At: ms(14051), Until: ms(15529), Fault: 1, Fenced: "yes",
				Message: "c2 went on as holder of \"orders\" until 15.529 s, although its lease had ended at 14.002 s and c4 held it from 14.051 s on.",
			}},
		},
		violated(checker.ResourceSafety, "2 writes, 1 stale", checker.Finding{
			Kind: "stale-write", Lock: "orders", Resource: "stock", Ops: b.at("w42", "w41"), Grants: []int{41, 42}, Blame: checker.ResourceParty, Strength: checker.Definite, At: ms(15523), Fault: 1, Fenced: "yes",
			Message: "stock took token 41 after token 42, so the update of c4 is lost.",
		}),
		held(checker.Fencing, "tokens of 3 grants rise"), held(checker.Ownership, "3 releases, 1 refused"), held(checker.Liveness, "slowest recovery 0.381 s after a fault (limit 7 s)"),
		held(checker.Coverage, "1 fault, 1 hit a hold"),
	)
}

// overlap: the service grants the lock twice; nobody writes.
func overlap() *runner.Outcome {
	b := newBook(history.NoTokens, history.IgnoresToken)
	b.acquire("c1", 7, 3100, 3102, 0)
	b.fault(1, "kill", "kill n1 (SIGKILL), restart empty", 3150, 3290, "n1")
	b.acquire("c3", 8, 3050, 3301, 0)
	b.release("c1", 7, 3702, 3703, history.Fail, history.NotHeld)
	b.release("c3", 8, 3801, 3802, history.OK, "")
	b.finish()
	return b.outcome(nil,
		violated(checker.MutualExclusion, "2 holds, 1 overlap", checker.Finding{
			Kind: checker.DoubleGrant, Lock: "orders", Ops: b.at("a7", "r7?", "a8"), Grants: []int{7, 8}, Blame: checker.Service, Strength: checker.Definite, At: ms(3301), Until: ms(3702), Fault: 1, Fenced: "no tokens",
			Message: "c1 and c3 were both entitled to \"orders\" from 3.301 s to 3.702 s (401 ms): the lease of c1 was in force until 5.100 s, that of c3 began by 3.301 s.",
		}),
		violated(checker.Ownership, "2 releases, 1 lost lock", checker.Finding{
			Kind: "lost-lock", Lock: "orders", Ops: b.at("a7", "r7"), Grants: []int{7}, Blame: checker.Service, Strength: checker.Definite, At: ms(3703), Fault: 1,
			Message: "c1 was told at 3.703 s that it did not hold \"orders\", which it had been granted at 3.102 s for 2 s.",
		}),
		checker.Result{Property: checker.Fencing, Verdict: checker.NotApplicable, Why: "the lock gives no tokens"},
		held(checker.Coverage, "1 fault, 1 hit a hold"),
	)
}

// fenceOrder: the token comes from elsewhere and does not follow the grants.
func fenceOrder() *runner.Outcome {
	b := newBook(history.PerGrant, history.ChecksToken)
	b.acquire("c1", 1, 1000, 1010, 6)
	b.release("c1", 1, 1100, 1101, history.OK, "")
	b.acquire("c2", 2, 1200, 1211, 5)
	b.op("w2", "c2", history.Write, 1250, 1251, history.Op{Grant: 2, Token: 5, Value: 3, Type: history.Fail, Outcome: history.Rejected})
	b.release("c2", 2, 1300, 1301, history.OK, "")
	b.acquire("c1", 3, 2000, 2010, 8)
	b.release("c1", 3, 2100, 2101, history.OK, "")
	b.acquire("c2", 4, 2200, 2211, 7)
	b.release("c2", 4, 2300, 2301, history.OK, "")
	b.finish()
	f := func(a, c int, high, low, from, to string) checker.Finding {
		return checker.Finding{
			Kind: "token-order", Lock: "orders", Ops: b.at(ids("a", a), ids("a", c)), Grants: []int{a, c}, Blame: checker.Service, Strength: checker.Definite, At: b.h.Ops[b.at(ids("a", c))[0]].Time, Fenced: "no",
			Message: "c1 was granted \"orders\" with token " + high + " by " + from + " s; c2 asked for it only at " + to + " s and got token " + low + ", which is lower.",
		}
	}
	r := violated(checker.Fencing, "4 grants, 2 tokens out of order", f(1, 2, "6", "5", "1.010", "1.200"), f(3, 4, "8", "7", "2.010", "2.200"))
	r.Count = 9
	return b.outcome(nil, held(checker.MutualExclusion, "4 holds, 0 overlaps"), r, held(checker.Coverage, "no faults planned"))
}

func ids(letter string, n int) string { return letter + string(rune('0'+n)) }

// strangersRelease: a bare DEL frees what belongs to somebody else.
func strangersRelease() *runner.Outcome {
	b := newBook(history.PerGrant, history.IgnoresToken)
	b.acquire("c1", 1, 500, 510, 1)
	b.fault(1, "partition", "cut off c1 from n1", 600, 2900, "c1")
	b.acquire("c2", 2, 900, 2520, 2)
	b.release("c1", 1, 700, 2910, history.OK, "")
	b.acquire("c3", 3, 2600, 2930, 3)
	b.release("c3", 3, 3100, 3101, history.OK, "")
	b.release("c2", 2, 3200, 3201, history.Fail, history.NotHeld)
	b.finish()
	return b.outcome(nil,
		violated(checker.Ownership, "3 releases, 1 by a stranger", checker.Finding{
			Kind: "strangers-release", Lock: "orders", Ops: b.at("a1", "r1", "a2"), Grants: []int{1, 2}, Blame: checker.Service, Strength: checker.Definite, At: ms(2910), Fault: 1,
			Message: "c1's release of \"orders\" was answered OK at 2.910 s, although its grant had ended by 2.520 s, when c2 was granted it.",
		}),
		held(checker.Coverage, "1 fault, 1 hit a hold"),
	)
}

// stuckLock: the holder is killed and the lock never comes free.
func stuckLock() *runner.Outcome {
	b := newBook(history.PerGrant, history.IgnoresToken)
	b.acquire("c2", 1, 4000, 4003, 1)
	b.fault(1, "kill", "kill c2 (SIGKILL)", 4100, 5100, "c2")
	b.add("crash", history.Op{Client: "c2", Type: history.Crash, Time: ms(4100)})
	for i, at := range []int{4200, 5300, 6400, 7500, 8600, 9700, 10800, 11900, 13000, 14100, 15200, 16300, 17400} {
		b.op(ids("b", i), "c1", history.Acquire, at, at+1000, history.Op{Grant: 10 + i, Type: history.Fail, Outcome: history.Busy})
	}
	b.add("end", history.Op{Client: "nemesis", Type: history.Phase, Name: history.PhaseEnd, Time: ms(20000)})
	b.finish()
	var refused []string
	for i := range 13 {
		refused = append(refused, ids("b", i))
	}
	return b.outcome(nil,
		held(checker.MutualExclusion, "1 hold, 0 overlaps"),
		violated(checker.Liveness, "never free again", checker.Finding{
			Kind: "stuck", Lock: "orders", Ops: b.at(append(refused, "a1", "crash")...), Grants: []int{1}, Blame: checker.Service, Strength: checker.Definite, At: ms(6003), Until: ms(18400), Fault: 1,
			Message: "\"orders\" was not granted to anyone from 6.003 s, when the lease of c2 had ended at the latest, until 18.400 s, although it was asked for 13 times.",
		}),
		held(checker.Coverage, "1 fault, 1 hit a hold"),
	)
}

// unknownAcquire: an acquire without an answer, released with the answer that it had been held.
func unknownAcquire() *runner.Outcome {
	b := newBook(history.NoTokens, history.IgnoresToken)
	b.op("a5", "c3", history.Acquire, 13200, 13700, history.Op{Grant: 5, Type: history.Info, Error: "i/o timeout"})
	b.acquire("c1", 6, 13000, 13205, 0)
	b.release("c3", 5, 13800, 13801, history.OK, "")
	b.release("c1", 6, 14100, 14101, history.OK, "")
	b.fault(1, "latency", "latency of 400 ms on c3 to n1", 13100, 13750, "c3")
	b.add("stall", history.Op{Client: "c1", Type: history.HostStall, Time: ms(13950), TTL: ms(210)})
	b.finish()
	return b.outcome(nil,
		violated(checker.MutualExclusion, "2 holds, 1 float within another", checker.Finding{
			Kind: checker.DoubleGrant, Lock: "orders", Ops: b.at("a5?", "r5", "a6", "r6?"), Grants: []int{5, 6}, Blame: checker.Service, Strength: checker.UnderClocks, At: ms(13800), Fault: 1,
			Message: "c3's release of \"orders\" between 13.800 s and 13.801 s was answered OK, so that it held it then; c1 held it from 13.205 s to 14.100 s.",
		}),
		held(checker.Coverage, "1 fault, 1 hit a hold"),
	)
}

// crashedHolder: a lease that is renewed, granted to another one meanwhile; the first is refused a write and dies, with a call that
// is never answered, as another client's acquire isn't; its next process goes on.
func crashedHolder() *runner.Outcome {
	b := newBook(history.PerGrant, history.ChecksToken)
	b.acquire("c1", 1, 1000, 1010, 1)
	b.add("renewed", history.Op{Client: "c1", Type: history.Renewed, Lock: "orders", Grant: 1, Time: ms(2000), Valid: ms(4000)})
	b.write("w1", "c1", 1, 2100, 2101, 1, 1, 0, 10)
	b.add("a3?", history.Op{Client: "c3", Type: history.Invoke, F: history.Acquire, Lock: "orders", Grant: 3, Time: ms(2500)})
	b.acquire("c2", 2, 2600, 3300, 2)
	b.write("w2", "c2", 2, 3350, 3351, 2, 2, 1, 20)
	b.op("w1b", "c1", history.Write, 3400, 3401, history.Op{Grant: 1, Token: 1, Value: 3, Base: 1, Type: history.Fail, Outcome: history.Rejected})
	b.add("e1?", history.Op{Client: "c1", Type: history.Invoke, F: history.Extend, Lock: "orders", Grant: 1, Time: ms(3450), TTL: 2 * time.Second})
	b.fault(1, "kill", "kill c1 (SIGKILL)", 3500, 4900, "c1")
	b.add("crash", history.Op{Client: "c1", Type: history.Crash, Time: ms(3500)})
	b.release("c2", 2, 5000, 5002, history.OK, "")
	b.op("a4", "c1", history.Acquire, 5100, 5110, history.Op{Process: 1, Grant: 4, Token: 3, TTL: 2 * time.Second, Valid: ms(7108)})
	b.op("r4", "c1", history.Release, 5200, 5201, history.Op{Process: 1, Grant: 4})
	b.finish()
	live := held(checker.Liveness, "slowest recovery 0.210 s after a fault (limit 7 s)")
	live.Numbers = map[string]float64{"slowest_recovery_s": 0.21, "slowest_takeover_s": 1.61, "longest_idle_s": 0.108}
	fair := held(checker.Fairness, "longest wait 0.700 s")
	fair.Numbers = map[string]float64{"longest_wait_s": 0.7}
	return b.outcome(nil,
		violated(checker.MutualExclusion, "3 holds, 1 overlap", checker.Finding{
			Kind: checker.DoubleGrant, Lock: "orders", Ops: b.at("a1", "renewed", "a2", "crash"), Grants: []int{1, 2}, Blame: checker.Service, Strength: checker.Definite, At: ms(3300), Until: ms(3500),
			Message: "c1 and c2 were both entitled to \"orders\" from 3.300 s to 3.500 s (200 ms): the lease of c1 was in force until 4.000 s, that of c2 began by 3.300 s.",
		}),
		held(checker.ResourceSafety, "2 writes, 0 stale, 1 late one refused"), live, fair, held(checker.Coverage, "1 fault, 1 hit a hold"),
	)
}

func cleanRun() *runner.Outcome {
	b := newBook(history.PerGrant, history.ChecksToken)
	at := 0
	for i := 1; i <= 300; i++ {
		client := []string{"c1", "c2", "c3", "c4"}[i%4]
		b.acquire(client, i, at, at+3+i%7, uint64(i))
		b.release(client, i, at+40, at+42, history.OK, "")
		at += 43
	}
	b.fault(1, "pause", "pause c2 (SIGSTOP)", 4000, 6000, "c2")
	b.finish()
	o := b.outcome(nil,
		held(checker.MutualExclusion, "300 holds, 0 overlaps"), held(checker.ResourceSafety, "300 writes, 0 stale, 4 late ones refused"),
		held(checker.Fencing, "tokens of 300 grants rise"), held(checker.Ownership, "300 releases, 41 tries by others refused"),
		held(checker.Liveness, "slowest recovery 2.400 s after a fault (limit 7.000 s), 12 takeovers, none of which took longer than the bound"),
		checker.Result{Property: checker.Permits, Verdict: checker.NotApplicable, Why: "no lock has permits"},
		checker.Result{Property: checker.Reentrancy, Verdict: checker.NotApplicable, Why: "no lock is re-entrant"},
		checker.Result{Property: checker.Availability, Verdict: checker.NotApplicable, Why: "the scenario sets no minimum"},
		held(checker.Coverage, "1 fault, 1 hit a hold; 300 acquires (at least 100)"),
	)
	o.CrossCheck = []checker.Agreement{{Lock: "orders", Model: "mutex", Engine: "porcupine", Answer: "legal", Sweep: "legal", Agrees: true}, {Lock: "stock", Model: "fenced register", Engine: "porcupine", Answer: "legal", Sweep: "legal", Agrees: true}}
	return o
}

func inconclusive() *runner.Outcome {
	b := newBook(history.PerGrant, history.ChecksToken)
	b.acquire("c1", 1, 100, 104, 1)
	b.release("c1", 1, 150, 151, history.OK, "")
	b.h.Header.Faults = []history.Fault{{Number: 1, Kind: "pause", Text: "pause the holder", MinHits: 8}}
	b.add("missed", history.Op{Client: "nemesis", Process: 1, Type: history.FaultMissed, F: "pause", Fault: 1, Time: ms(900), Error: "no client held a lock within 2 s"})
	b.finish()
	o := b.outcome(nil,
		checker.Result{Property: checker.MutualExclusion, Verdict: checker.Inconclusive, Why: "there were no two holds to compare", Summary: "1 hold"},
		checker.Result{Property: checker.Coverage, Verdict: checker.Inconclusive, Summary: "1 fault, 0 hits", Why: "1 acquire was granted, at least 100 are asked for; fault 1 (pause the holder) hit a hold 0 times of 8"},
	)
	o.Interrupted, o.Kind, o.KindWhy, o.Cluster = "SIGINT", "embedded", "redis-server was not found", "miniredis 2.40.0, 1 server in this process"
	o.Separate = false
	o.CrossCheck = []checker.Agreement{{Lock: "orders", Model: "mutex", Engine: "porcupine", Sweep: "legal", Because: "there were over 20,000 operations"}}
	b.h.Truncated = "the last line was cut off"
	return o
}

// hostile: names and errors that come from servers carry escape sequences, long words and letters beyond ASCII.
func hostile() *runner.Outcome {
	b := newBook(history.PerGrant, history.IgnoresToken)
	b.acquire("c1", 1, 500, 510, 18446744073709551615)
	b.acquire("c2", 2, 500, 2520, 1)
	b.fault(1, "latency", "latency \x1b[31mred\x07 · "+string(make([]byte, 0))+"averyveryverylongwordthathasnoblankwhereitcouldbebrokenandgoesonandonandonandon", 700, 0, "n1")
	b.finish()
	for i := range b.h.Ops {
		if b.h.Ops[i].Lock != "" {
			b.h.Ops[i].Lock = "\x1b]0;owned\x07größe"
		}
	}
	o := b.outcome(nil, violated(checker.MutualExclusion, "2 holds \x1b[2J", checker.Finding{
		Kind: checker.DoubleGrant, Lock: "\x1b]0;owned\x07größe", Ops: b.at("a1", "a2"), Grants: []int{1, 2}, Strength: checker.Definite, At: ms(2520), Until: ms(2600),
		Message: "both held \x1b]0;owned\x07größe",
	}))
	o.Elapsed = time.Second
	return o
}
