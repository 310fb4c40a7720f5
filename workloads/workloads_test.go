package workloads_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/clients"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/memory"
	"github.com/locktest/locktest/workloads"
)

// scene is a recorder and what workers share.
type scene struct {
	t        *testing.T
	buf      bytes.Buffer
	recorder *history.Recorder
	shared   workloads.Shared
}

func newScene(t *testing.T, contract history.Contract, check string) *scene {
	s := &scene{t: t}
	h := history.Header{Clients: []string{"c1", "c2", "c3"}, Locks: []history.Lock{{Name: "orders", Provider: "memory/lease", Contract: contract}, {Name: "orders-2", Provider: "memory/lease", Contract: contract}},
		Bounds: history.Bounds{RecoverWithin: 5 * time.Second, Wait: time.Second, MinAcquires: 1}}
	if check != "" {
		h.Resources = []history.Resource{{Name: "orders", Check: check, Store: "harness", Ordered: true}, {Name: "orders-2", Check: check, Store: "harness", Ordered: true}}
	}
	r, err := history.NewRecorder(&s.buf, h, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var grants, values atomic.Int64
	s.recorder = r
	s.shared = workloads.Shared{Recorder: r, Contracts: map[string]history.Contract{"orders": contract, "orders-2": contract},
		Resources: map[string]*workloads.Resource{},
		NextGrant: func() int { return int(grants.Add(1)) }, NextValue: func() int64 { return values.Add(1) },
		Watch: func(workloads.Step, string, string, int) {}}
	if check != "" {
		s.shared.Resources["orders"], s.shared.Resources["orders-2"] = workloads.NewResource("orders", check, r), workloads.NewResource("orders-2", check, r)
	}
	return s
}

func (s *scene) history() *history.History {
	s.t.Helper()
	h, err := history.ReadJSONL(bytes.NewReader(s.buf.Bytes()))
	if err != nil {
		s.t.Fatal(err)
	}
	return h
}

// lines are the events in short: "invoke acquire 1", "fail release 1 not-held".
func (s *scene) lines() []string {
	var out []string
	for _, op := range s.history().Ops {
		l := fmt.Sprintf("%s %s %d", op.Type, op.F, op.Grant)
		if op.Outcome != "" {
			l += " " + string(op.Outcome)
		}
		out = append(out, l)
	}
	return out
}

// script is a client that gives the answers that a test wrote down, in order.
type script struct {
	answers []answer
	asked   []string

	requests []clients.Request
}

type answer struct {
	reply clients.Reply
	err   error
}

func say(r clients.Result) answer { return answer{reply: clients.Reply{Result: r}} }

func (c *script) Name() string                { return "c1" }
func (c *script) Await(context.Context) error { return nil }
func (c *script) Do(_ context.Context, r clients.Request) (clients.Reply, error) {
	c.requests = append(c.requests, r)
	c.asked = append(c.asked, fmt.Sprintf("%s %d", r.Op, r.Grant))
	if len(c.answers) == 0 {
		return clients.Reply{}, errors.New("the script has ended")
	}
	a := c.answers[0]
	c.answers = c.answers[1:]
	return a.reply, a.err
}

var lease = memory.NewLease().Claims(time.Second)

func TestWorkerRecordsWhatIsKnown(t *testing.T) {
	handle := answer{reply: clients.Reply{Result: clients.Unknown, Handle: true, Owner: "x"}}
	for name, c := range map[string]struct {
		answers []answer
		want    []string
	}{
		"granted, written, released": {[]answer{say(clients.OK), say(clients.OK), say(clients.OK)},
			[]string{"invoke acquire 1", "ok acquire 1", "invoke read 1", "ok read 1", "invoke write 1", "ok write 1", "invoke release 1", "ok release 1"}},
		"busy":             {[]answer{say(clients.Busy)}, []string{"invoke acquire 1", "fail acquire 1 busy"}},
		"nothing was sent": {[]answer{say(clients.Unavailable)}, []string{"invoke acquire 1", "fail acquire 1"}},
		"an unknown acquire is cleaned up until the answer is definite": {[]answer{handle, say(clients.Unknown), say(clients.Unavailable), say(clients.Lost)},
			[]string{"invoke acquire 1", "info acquire 1", "invoke release 1", "info release 1", "invoke release 1", "fail release 1", "invoke release 1", "fail release 1 not-held"}},
		"an unknown acquire without a handle is left": {[]answer{say(clients.Unknown)}, []string{"invoke acquire 1", "info acquire 1"}},
		"an unknown release is repeated": {[]answer{say(clients.OK), say(clients.OK), say(clients.Unknown), say(clients.OK)},
			[]string{"invoke acquire 1", "ok acquire 1", "invoke read 1", "ok read 1", "invoke write 1", "ok write 1", "invoke release 1", "info release 1", "invoke release 1", "ok release 1"}},
		"a word that has no meaning here is unknown": {[]answer{say(clients.Lost)}, []string{"invoke acquire 1", "info acquire 1"}},
		"a client that died in its write wrote nothing": {[]answer{say(clients.OK), {err: clients.ErrDead}},
			[]string{"invoke acquire 1", "ok acquire 1", "invoke read 1", "ok read 1", "invoke write 1", "fail write 1"}},
		"a client that died in its acquire may have got it": {[]answer{{err: clients.ErrDead}}, []string{"invoke acquire 1", "info acquire 1"}},
		"a client that knows of its loss doesn't write": {[]answer{say(clients.OK), say(clients.Lost), say(clients.Lost)},
			[]string{"invoke acquire 1", "ok acquire 1", "invoke read 1", "ok read 1", "invoke write 1", "fail write 1 not-held", "lost  1", "invoke release 1", "fail release 1 not-held"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t, lease, history.ChecksToken)
				w := workloads.NewWorker(&script{answers: c.answers}, workloads.Counter{}, workloads.Config{Locks: []string{"orders"}, TTL: time.Second}, s.shared, rand.New(rand.NewPCG(1, 1)))
				err := w.Run(t.Context(), make(chan struct{}))
				if err == nil || err.Error() != "the script has ended" {
					t.Fatal(err)
				}
				got := s.lines()
				if want := len(c.want); strings.Join(got[:min(want, len(got))], "\n") != strings.Join(c.want, "\n") {
					t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
				}
			})
		})
	}
}

// A section that raises an error writes nothing, and its lock is released.
func TestFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, lease, history.ChecksToken)
		c := &script{answers: []answer{say(clients.OK), say(clients.OK)}}
		w := workloads.NewWorker(c, workloads.Counter{}, workloads.Config{Locks: []string{"orders"}, TTL: time.Second, Fail: 1}, s.shared, rand.New(rand.NewPCG(1, 1)))
		w.Run(t.Context(), make(chan struct{})) // ends with the script
		if got := strings.Join(c.asked[:2], ", "); got != "acquire 1, release 1" {
			t.Errorf("asked %s", got)
		}
	})
}

func TestResource(t *testing.T) {
	for check, want := range map[string][]bool{
		history.IgnoresToken:  {true, true, true, true},
		history.ChecksToken:   {true, true, false, true},
		history.ChecksVersion: {true, false, false, false},
	} {
		t.Run(check, func(t *testing.T) {
			s := newScene(t, lease, check)
			r := s.shared.Resources["orders"]
			var got []bool
			for i, w := range []struct{ token, base int }{{5, 0}, {7, 0}, {6, 0}, {7, 0}} {
				op := s.recorder.Record(history.Op{Client: "c1", Process: 1, Type: history.Invoke, F: history.Write, Token: uint64(w.token), Base: int64(w.base), Value: int64(i + 1)})
				got = append(got, r.Write(op, 1))
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// A read by a later holder shuts an earlier one out, before anything was written.
func TestReadAdvancesTheMark(t *testing.T) {
	s := newScene(t, lease, history.ChecksToken)
	r := s.shared.Resources["orders"]
	if _, _, ok := r.Read(s.recorder.Record(history.Op{Client: "c2", Process: 1, Type: history.Invoke, F: history.Read, Token: 8})); !ok {
		t.Fatal("the read was refused")
	}
	if r.Write(s.recorder.Record(history.Op{Client: "c1", Process: 1, Type: history.Invoke, F: history.Write, Token: 7, Value: 1}), 1) {
		t.Error("a write with a lower token than a read's was taken")
	}
}

// Every workload is held on the memory locks, in virtual time.
func TestHeldOnMemory(t *testing.T) {
	own := map[string]map[string]locks.Provider{
		"semaphore": {"semaphore": memory.NewSemaphore(2)},
		"rwlock":    {"rwlock": memory.NewRWLock()},
		"reentrant": {"reentrant": memory.NewReentrant(3)},
	}
	for _, w := range workloads.All() {
		providers := own[w.Name()]
		if providers == nil {
			providers = map[string]locks.Provider{"mutex": memory.NewMutex(), "lease": memory.NewLease()}
		}
		for name, provider := range providers {
			t.Run(w.Name()+" on memory/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { heldOn(t, w, provider) })
			})
		}
	}
}

func heldOn(t *testing.T, w workloads.Workload, provider locks.Provider) {
	s := newScene(t, provider.Claims(time.Second), history.ChecksToken)
	if !w.UsesResource() {
		s = newScene(t, provider.Claims(time.Second), "")
	}
	c := workloads.Config{Locks: []string{"orders", "orders-2"}, TTL: time.Second, Permits: 2, Readers: 0.6, Order: workloads.Sorted, Wait: 2 * time.Second, Hold: workloads.Range{Min: 5 * time.Millisecond, Max: 50 * time.Millisecond}, Extend: 20 * time.Millisecond, Think: workloads.Range{Max: 10 * time.Millisecond}}
	if name := provider.Claims(0).Expiry; name == history.NoExpiry {
		c.Extend = 0
	}
	stop := make(chan struct{})
	var workers []*workloads.Worker
	var wg sync.WaitGroup
	s.recorder.Record(history.Op{Type: history.Phase, Name: history.PhaseWarmup})
	for i, name := range []string{"c1", "c2", "c3"} {
		var worker *workloads.Worker
		client, err := clients.NewShared(t.Context(), name, func(ctx context.Context) (locks.Client, error) {
			return provider.Open(ctx, locks.Target{Client: name})
		}, func(e clients.Event) { worker.Tell(e) })
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		worker = workloads.NewWorker(client, w, c, s.shared, rand.New(rand.NewPCG(1, uint64(i))))
		workers = append(workers, worker)
		wg.Go(func() {
			if err := worker.Run(t.Context(), stop); err != nil {
				t.Error(err)
			}
		})
	}
	s.recorder.Record(history.Op{Type: history.Phase, Name: history.PhaseFaults})
	time.Sleep(20 * time.Second)
	s.recorder.Record(history.Op{Type: history.Phase, Name: history.PhaseSettle})
	close(stop)
	wg.Wait()
	s.recorder.Record(history.Op{Type: history.Phase, Name: history.PhaseDrain})
	for _, worker := range workers {
		if err := worker.Drain(t.Context(), time.Second); err != nil {
			t.Error(err)
		}
	}
	s.recorder.Record(history.Op{Type: history.Phase, Name: history.PhaseEnd})
	for _, r := range checker.Run(t.Context(), s.history(), checker.All(), checker.Options{}) {
		if r.Verdict == checker.Violated || r.Verdict == checker.Inconclusive {
			t.Errorf("%s is %s: %s %s", r.Property, r.Verdict, r.Summary, r.Why)
			for _, f := range r.Findings {
				t.Log(f.Message)
			}
		}
	}
}

// A grant that came late leaves less of the lease than the section was to take: the client sees that, and is shorter.
func TestHoldFitsWhatIsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		left, hold, want time.Duration
	}{
		"enough is left":          {900 * time.Millisecond, 500 * time.Millisecond, 500 * time.Millisecond},
		"less is left":            {300 * time.Millisecond, 500 * time.Millisecond, 250 * time.Millisecond},
		"nothing is left":         {-time.Millisecond, 500 * time.Millisecond, 500 * time.Millisecond},
		"longer than the lease":   {900 * time.Millisecond, 2 * time.Second, 2 * time.Second},
		"hardly anything is left": {10 * time.Millisecond, 500 * time.Millisecond, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t, lease, "")
				grant := answer{reply: clients.Reply{Result: clients.OK, Until: time.Now().Add(c.left)}}
				w := workloads.NewWorker(&script{answers: []answer{grant, say(clients.OK)}}, workloads.Mutex{}, workloads.Config{Locks: []string{"orders"}, TTL: time.Second, Hold: workloads.Range{Min: c.hold, Max: c.hold}}, s.shared, rand.New(rand.NewPCG(1, 1)))
				w.Run(t.Context(), make(chan struct{})) // ends with the script
				ops := s.history().Ops
				if got := ops[2].Time - ops[1].Time; ops[2].F != history.Release || got != c.want {
					t.Errorf("held for %v, want %v", got, c.want)
				}
			})
		})
	}
}
