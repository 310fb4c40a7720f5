package clients

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

func do(t *testing.T, c Client, r Request, want Result) Reply {
	t.Helper()
	reply, err := c.Do(t.Context(), r)
	if err != nil {
		t.Fatalf("%s: %v", r.Op, err)
	}
	if reply.Result != want {
		t.Fatalf("%s: got %s (%s), want %s", r.Op, reply.Result, reply.Error, want)
	}
	return reply
}

func TestConversation(t *testing.T) {
	p := startGood(t, func(Event) {})
	before := time.Now()
	r := do(t, p, Request{Op: OpAcquire, Grant: 1, Lock: "orders", TTL: 5 * time.Second}, OK)
	if r.Token != 1 || r.Owner == "" || r.TTL != 5*time.Second {
		t.Errorf("got token %d, owner %q, TTL %v", r.Token, r.Owner, r.TTL)
	}
	// The deadline comes from another process, on the system's clock.
	if r.Until.Before(before.Add(4900*time.Millisecond)) || r.Until.After(time.Now().Add(5100*time.Millisecond)) {
		t.Errorf("valid until %v after the call, of 5 s", r.Until.Sub(before))
	}
	do(t, p, Request{Op: OpAcquire, Grant: 2, Lock: "orders", TTL: time.Second}, Busy)
	do(t, p, Request{Op: OpWork, Grant: 1, Lock: "orders", Value: 7}, OK)
	do(t, p, Request{Op: OpExtend, Grant: 1, Lock: "orders", TTL: time.Minute}, OK)
	do(t, p, Request{Op: OpRelease, Grant: 1, Lock: "orders"}, OK)
	do(t, p, Request{Op: OpRelease, Grant: 1, Lock: "orders"}, Lost)
	do(t, p, Request{Op: OpRelease, Grant: 99, Lock: "orders"}, Unknown) // never heard of: not "lost"
	do(t, p, Request{Op: "dance"}, Unknown)
}

// A request is answered while another thread's waits: what it waits for is this one.
func TestThreadsGoOnSideBySide(t *testing.T) {
	p := startAs(t, "tells of waits", func(Event) {})
	do(t, p, Request{Op: OpAcquire, Grant: 1, Lock: "orders", TTL: time.Minute}, OK)
	waiting := open(t, p, Request{Op: OpAcquire, Thread: 1, Grant: 2, Lock: "orders", TTL: time.Minute, Wait: time.Minute})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if r, err := p.Do(ctx, Request{Op: OpRelease, Thread: 2, Grant: 1, Lock: "orders"}); err != nil || r.Result != OK {
		t.Fatalf("a release while another thread waits: got %+v, %v", r, err)
	}
	if a := soon(t, waiting); a.err != nil || a.reply.Result != OK {
		t.Errorf("the waiting thread got %+v, %v", a.reply, a.err)
	}
}

func TestCancelEndsAnAcquire(t *testing.T) {
	p := startGood(t, func(Event) {})
	do(t, p, Request{Op: OpAcquire, Grant: 1, Lock: "orders", TTL: time.Minute}, OK)
	got := make(chan Reply, 1)
	go func() {
		r, _ := p.Do(t.Context(), Request{Op: OpAcquire, Grant: 2, Lock: "orders", TTL: time.Minute, Wait: time.Hour})
		got <- r
	}()
	most, told := 0, 0
	within(t, "the acquire is cancelled", func() bool { // asked again: whether it is open yet can't be seen from here
		n, err := p.CancelCalls(t.Context(), func() { told++ })
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, n)
		return len(got) == 1
	})
	if r := <-got; r.Result != Busy || most != 1 || told == 0 {
		t.Errorf("the cancelled acquire got %+v, and %d calls were cancelled at once, told %d times", r, most, told)
	}
	if n, err := p.CancelCalls(t.Context(), func() { t.Error("nothing is open, and it was told") }); n != 0 || err != nil {
		t.Errorf("with no call open: cancelled %d, %v", n, err)
	}
	do(t, p, Request{Op: OpRelease, Grant: 1, Lock: "orders"}, OK) // other calls are left alone
}

func TestPauseHoldsTheReplyBack(t *testing.T) {
	var mu sync.Mutex
	var stalls []Event
	p := startGood(t, func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Kind == Stalled {
			stalls = append(stalls, e)
		}
	})
	do(t, p, Request{Op: OpAcquire, Grant: 1, Lock: "orders", TTL: 200 * time.Millisecond}, OK)
	if err := p.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := p.Do(ctx, Request{Op: OpWork, Grant: 1}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a paused client answered: %v", err)
	}
	if err := p.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	within(t, "the loss is noticed", func() bool {
		r, err := p.Do(t.Context(), Request{Op: OpWork, Grant: 1})
		return err == nil && r.Result == Lost
	})
	mu.Lock()
	defer mu.Unlock()
	if len(stalls) > 0 {
		t.Errorf("the pause was told as a stall of the host: %v", stalls)
	}
}

func TestKillAndRestart(t *testing.T) {
	p := startAs(t, "tells of waits", func(Event) {})
	do(t, p, Request{Op: OpAcquire, Grant: 1, Lock: "orders", TTL: time.Minute}, OK)
	got := open(t, p, Request{Op: OpAcquire, Grant: 2, Lock: "orders", TTL: time.Minute, Wait: time.Minute})
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := soon(t, got); !errors.Is(a.err, ErrDead) {
		t.Errorf("an open request of a killed client: %v", a.err)
	}
	if _, err := p.Do(t.Context(), Request{Op: OpWork, Grant: 1}); !errors.Is(err, ErrDead) {
		t.Errorf("a request of a killed client: %v", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := p.Await(short); err == nil {
		t.Error("a killed client is said to live")
	}
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Await(t.Context()); err != nil {
		t.Error(err)
	}
	do(t, p, Request{Op: OpRelease, Grant: 1, Lock: "orders"}, Unknown) // the new process knows nothing of the old one's grant
}

func TestRubbishIsKeptAndIgnored(t *testing.T) {
	c := config(t, "rubbish", func(Event) {})
	p, err := StartProcess(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	do(t, p, Request{Op: OpAcquire, Grant: 1, Lock: "orders", TTL: time.Minute}, OK)
	b, err := os.ReadFile(c.Stdout)
	if err != nil || !strings.Contains(string(b), "DEBUG connecting") || p.Rubbish() != 2 {
		t.Errorf("kept %q (%v), %d lines", b, err, p.Rubbish())
	}
}

func TestClientsAtFault(t *testing.T) {
	for how, want := range map[string]string{
		"refuses": "refused hello: no such lock",
		"dies":    "died outside any fault; it exited with status 3; last lines of",
	} {
		t.Run(how, func(t *testing.T) {
			_, err := StartProcess(t.Context(), config(t, how, func(Event) {}))
			var fault *AdapterError
			if !errors.As(err, &fault) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

func TestDeathOutsideAFault(t *testing.T) {
	p, err := StartProcess(t.Context(), config(t, "dies later", func(Event) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for err == nil {
		_, err = p.Do(t.Context(), Request{Op: OpAcquire, Grant: 1, Lock: "orders", TTL: time.Minute})
	}
	var fault *AdapterError
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "status 4") {
		t.Errorf("got %v", err)
	}
}
