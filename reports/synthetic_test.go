package reports

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// synthetic makes an outcome of at least n operations on four locks: each granted in turn to its own four clients, with
// refusals, time-outs, a pause every few seconds, and one stale write in the middle.
func synthetic(n int) *runner.Outcome {
	s := &synthesis{r: rand.New(rand.NewPCG(uint64(n), 7)), b: newBook(history.PerGrant, history.IgnoresToken)}
	s.b.h.Header.Locks, s.b.h.Header.Resources, s.b.h.Header.Clients = nil, nil, nil
	for lock := range 4 {
		name := fmt.Sprintf("lock-%d", lock+1)
		s.b.h.Header.Locks = append(s.b.h.Header.Locks, history.Lock{Name: name, Provider: "redis/single", Contract: history.Contract{Expiry: history.Lease, TTL: 2 * time.Second, Tokens: history.PerGrant}})
		s.b.h.Header.Resources = append(s.b.h.Header.Resources, history.Resource{Name: name, Check: history.IgnoresToken, Store: "harness"})
		for client := range 4 {
			s.b.h.Header.Clients = append(s.b.h.Header.Clients, fmt.Sprintf("c%d", lock*4+client+1))
		}
		s.now = time.Duration(lock) * time.Millisecond
		for from := s.operations; s.operations-from < n/4; {
			s.turn(lock, name)
		}
	}
	return s.outcome()
}

type synthesis struct {
	r          *rand.Rand
	b          *book
	ops        []history.Op
	now        time.Duration
	operations int
	grants     int
}

func (s *synthesis) some(most time.Duration) time.Duration {
	return time.Duration(s.r.Int64N(int64(most))) + time.Microsecond
}

// operation adds a call and its end.
func (s *synthesis) operation(client string, took time.Duration, op history.Op) {
	op.Client = client
	call := op
	call.Type, call.Time, call.Outcome, call.Valid, call.Error = history.Invoke, s.now, "", 0, ""
	op.Time = s.now + took
	if op.F == history.Acquire {
		call.Token = 0
	}
	s.ops = append(s.ops, call, op)
	s.operations++
	s.now = op.Time + s.some(200*time.Microsecond)
}

// turn is one grant of a lock: acquired, refused to somebody else, read, written, released.
func (s *synthesis) turn(lock int, name string) {
	s.grants++
	holder, other := fmt.Sprintf("c%d", lock*4+s.grants%4+1), fmt.Sprintf("c%d", lock*4+(s.grants+1)%4+1)
	token := uint64(s.grants)
	s.operation(holder, s.some(4*time.Millisecond), history.Op{F: history.Acquire, Type: history.OK, Lock: name, Grant: s.grants, Token: token, TTL: 2 * time.Second, Valid: s.now + 1998*time.Millisecond})
	if refusal := s.grants*5 + 1_000_000_000; s.r.IntN(40) == 0 {
		s.operation(other, s.some(500*time.Millisecond), history.Op{F: history.Acquire, Type: history.Info, Lock: name, Grant: refusal - 1_000_000_000 + 2_000_000, Error: fmt.Sprintf("read tcp 127.0.0.1:%d->127.0.0.1:6379: i/o timeout", 30000+s.r.IntN(20000))})
	} else {
		s.operation(other, s.some(time.Millisecond), history.Op{F: history.Acquire, Type: history.Fail, Outcome: history.Busy, Lock: name})
	}
	s.operation(holder, s.some(time.Millisecond), history.Op{F: history.Read, Type: history.OK, Resource: name, Grant: s.grants, Token: token, Value: int64(s.grants)})
	s.operation(holder, s.some(time.Millisecond), history.Op{F: history.Write, Type: history.OK, Resource: name, Grant: s.grants, Token: token, Value: int64(s.grants) + 1, Base: int64(s.grants)})
	s.operation(holder, s.some(2*time.Millisecond), history.Op{F: history.Release, Type: history.OK, Lock: name, Grant: s.grants})
}

// outcome orders the events, adds faults, and one finding in the middle.
func (s *synthesis) outcome() *runner.Outcome {
	end := time.Duration(0)
	for _, op := range s.ops {
		end = max(end, op.Time)
	}
	for n := range 8 {
		from := end * time.Duration(n+1) / 10
		s.b.h.Header.Faults = append(s.b.h.Header.Faults, history.Fault{Number: n + 1, Kind: "pause", Text: "pause the holder", MinHits: 1})
		for at, t := range map[time.Duration]history.Type{from: history.FaultBegin, from + end/40: history.FaultEnd} {
			s.ops = append(s.ops, history.Op{Client: "nemesis", Process: n + 1, F: "pause", Type: t, Time: at, Fault: n + 1, Targets: []string{fmt.Sprintf("c%d", n+1)}, Text: fmt.Sprintf("pause c%d (SIGSTOP)", n+1)})
		}
	}
	slices.SortStableFunc(s.ops, func(a, b history.Op) int { return int(a.Time - b.Time) })
	for i := range s.ops {
		s.ops[i].Index = i
	}
	s.b.h.Ops = s.ops
	middle := slices.IndexFunc(s.ops, func(op history.Op) bool { return op.Time > end/2 && op.F == history.Write && op.Type == history.OK })
	op := s.ops[middle]
	return s.b.outcome(&scenarios.Scenario{}, held(checker.MutualExclusion, "many holds, 0 overlaps"),
		violated(checker.ResourceSafety, "many writes, 1 stale", checker.Finding{Kind: checker.StaleWrite, Lock: op.Resource, Resource: op.Resource, Ops: []int{middle}, Grants: []int{op.Grant}, Blame: checker.ResourceParty, Strength: checker.Definite, At: op.Time, Until: op.Time, Message: "a stale write, made up for this test"}))
}
