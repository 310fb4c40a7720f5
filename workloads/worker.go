package workloads

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/locktest/locktest/clients"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// Worker drives one client, or one thread of it, through a workload and records it.
type Worker struct {
	client   Doer
	config   Config
	shared   Shared
	workload Workload
	rand     *rand.Rand
	process  int

	mu    sync.Mutex
	holds map[int]*hold // what the client believes it holds, by grant
}

// NewWorker makes a worker; rnd is its own.
func NewWorker(c Doer, w Workload, config Config, shared Shared, rnd *rand.Rand) *Worker {
	return &Worker{client: c, workload: w, config: config, shared: shared, rand: rnd, process: 1, holds: map[int]*hold{}}
}

// hold is a grant from its reply to its end.
type hold struct {
	ask
	grant int
	token uint64
	valid time.Time       // until when the client believes that its lease lasts; zero: it doesn't say
	early *snapshot       // read before the lock was asked for; nil: as it should be
	died  <-chan struct{} // closed when the client's life that asked has ended; nil: it can't be told
	lost  chan struct{}
	once  sync.Once
}

// Run goes from one acquire to the next until stop is closed; then it ends what it has begun. When ctx ends it gives up at
// once, and what is open stays unknown.
func (w *Worker) Run(ctx context.Context, stop <-chan struct{}) error {
	for ctx.Err() == nil && !closed(stop) {
		err := w.once(ctx, w.ask(w.config.Locks[w.rand.IntN(len(w.config.Locks))]), w.config.Wait, w.workload.Section)
		if errors.Is(err, clients.ErrDead) {
			err = w.revive(ctx, stop)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		w.pause(stop, w.config.Think.draw(w.rand))
	}
	return nil
}

// Drain acquires and releases each lock once, waiting for up to wait, and reads its resource; a workload may have another
// way. A client that is dead is left alone: its missing acquire is seen by whoever judges.
func (w *Worker) Drain(ctx context.Context, wait time.Duration) error {
	for _, lock := range w.config.Locks {
		var err error
		if d, ok := w.workload.(drainer); ok {
			err = d.drain(ctx, w, lock, wait)
		} else {
			err = w.once(ctx, ask{lock: lock}, wait, readOnly)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, clients.ErrDead) {
			return err
		}
	}
	return nil
}

// once is one acquire and all that follows from it.
func (w *Worker) once(ctx context.Context, a ask, wait time.Duration, section func(context.Context, *Section) error) error {
	early := w.lookEarly(ctx, a.lock)
	h, err := w.acquire(ctx, a, wait)
	if err != nil {
		return err
	}
	if h == nil {
		locks.Sleep(ctx, Range{refusedPause / 2, refusedPause}.draw(w.rand)) // who was refused at once would ask at once
		return nil
	}
	h.early = early
	err = section(ctx, &Section{worker: w, hold: h})
	if err == nil {
		w.shared.Watch(Releasing, w.client.Name(), h.lock, h.grant)
		w.let(h)
		err = w.release(ctx, h)
	}
	if w.let(h) { // the section ended early: the client died, or the run did
		w.shared.Watch(Ended, w.client.Name(), h.lock, h.grant)
	}
	return err
}

// ask is what an acquire asks for, apart from how long.
type ask struct {
	lock    string
	mode    string // empty: exclusive
	permits int    // 0: one
}

// ask is what the workload asks of the lock of that name.
func (w *Worker) ask(lock string) ask {
	a := ask{lock, w.config.Mode, w.config.Permits}
	if asker, ok := w.workload.(asker); ok {
		a.mode, a.permits = asker.ask(w.config, w.rand)
	}
	return a
}

// mortal is a client that can be killed: what it held is then nobody's, whatever its next life does.
type mortal interface{ Died() <-chan struct{} }

// acquire returns nil where there is no grant.
func (w *Worker) acquire(ctx context.Context, a ask, wait time.Duration) (*hold, error) {
	name, lock, grant := w.client.Name(), a.lock, w.shared.NextGrant()
	w.shared.Watch(Waiting, name, lock, grant)
	op := w.begin(history.Op{F: history.Acquire, Lock: lock, Grant: grant, Mode: a.mode, Permits: a.permits, TTL: w.config.TTL})
	h := &hold{ask: a, grant: grant, lost: make(chan struct{})}
	if m, ok := w.client.(mortal); ok {
		h.died = m.Died()
	}
	w.take(h) // a loss may be told before the reply is recorded
	reply, err := w.do(ctx, clients.Request{Op: clients.OpAcquire, Grant: grant, Lock: lock, TTL: w.config.TTL, Wait: wait, Mode: a.mode, Permit: a.permits})
	op.Owner, op.Error = reply.Owner, reply.Error
	if err != nil || reply.Result != clients.OK {
		w.let(h)
		w.end(op, outcome(reply.Result, err, history.Busy))
		w.shared.Watch(Refused, name, lock, grant)
		if err == nil && reply.Result == clients.Unknown && reply.Handle {
			err = w.release(ctx, h)
		}
		return nil, err
	}
	if reply.TTL > 0 {
		op.TTL = reply.TTL
	}
	h.token, h.valid = uint64(reply.Token), reply.Until
	op.Token, op.Valid = h.token, w.validUntil(reply.Until)
	w.end(op, result{Type: history.OK})
	w.shared.Watch(Acquired, name, lock, grant)
	return h, nil
}

// Pauses between two tries to get a definite answer, and after a refusal.
const (
	refusedPause = 10 * time.Millisecond
	firstRetry   = 20 * time.Millisecond
	lastRetry    = 320 * time.Millisecond
)

// release asks until the answer is definite, or until a lease must have ended long ago.
func (w *Worker) release(ctx context.Context, h *hold) error {
	lock, grant := h.lock, h.grant
	contract := w.shared.Contracts[lock]
	giveUp := time.Now().Add(2*contract.TTL + time.Second)
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		if closed(h.died) {
			return clients.ErrDead
		}
		op := w.begin(history.Op{F: history.Release, Lock: lock, Grant: grant})
		reply, err := w.do(ctx, clients.Request{Op: clients.OpRelease, Grant: grant, Lock: lock})
		op.Error = reply.Error
		r := outcome(reply.Result, err, history.NotHeld)
		if r.Type == history.OK && !contract.ReleaseHeld {
			r.Outcome = history.Gone
		}
		w.end(op, r)
		settled := r.Type == history.OK || r.Outcome == history.NotHeld
		if err != nil || settled || contract.Expiry != history.NoExpiry && time.Now().After(giveUp) {
			return err
		}
		if !locks.Sleep(ctx, pause) {
			return ctx.Err()
		}
	}
}

// validUntil is t on the run's clock. Zero would mean that the client doesn't say, and nothing was before the run.
func (w *Worker) validUntil(t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return max(1, w.shared.Recorder.Since(t))
}

// result is how an operation is recorded.
type result struct {
	Type    history.Type
	Outcome history.Outcome
}

// outcome is the one place where an answer becomes certain or unknown. refusal is what a definite no means here.
func outcome(r clients.Result, err error, refusal history.Outcome) result {
	switch {
	case err != nil:
		return result{Type: history.Info}
	case r == clients.OK:
		return result{Type: history.OK}
	case r == clients.Busy && refusal == history.Busy, r == clients.Lost && refusal == history.NotHeld:
		return result{history.Fail, refusal}
	case r == clients.Unavailable:
		return result{Type: history.Fail}
	}
	return result{Type: history.Info}
}

// do sends a request of the worker's thread.
func (w *Worker) do(ctx context.Context, r clients.Request) (clients.Reply, error) {
	r.Thread = w.config.Thread
	return w.client.Do(ctx, r)
}

// begin records an invocation.
func (w *Worker) begin(op history.Op) history.Op {
	op.Client, op.Thread, op.Process, op.Type = w.client.Name(), w.config.Thread, w.process, history.Invoke
	w.shared.Recorder.Record(op)
	return op
}

// end records a completion. After an unknown one the client goes on as another process.
func (w *Worker) end(op history.Op, r result) {
	op.Type, op.Outcome = r.Type, r.Outcome
	w.shared.Recorder.Record(op)
	if r.Type == history.Info {
		w.process++
	}
}

func (w *Worker) take(h *hold) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holds[h.grant] = h
}

// let ends the client's belief in h, and says whether there was one.
func (w *Worker) let(h *hold) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, was := w.holds[h.grant]
	delete(w.holds, h.grant)
	return was
}

// Tell takes an event of the client. It may be called from any goroutine.
func (w *Worker) Tell(e clients.Event) {
	w.mu.Lock()
	h := w.holds[e.Grant]
	w.mu.Unlock()
	if h == nil {
		return // it is released already, or was never granted
	}
	switch e.Kind {
	case clients.LostEvent:
		w.lost(h, "")
	case clients.Renewed:
		w.shared.Recorder.Record(history.Op{Client: w.client.Name(), Thread: w.config.Thread, Type: history.Renewed, Lock: h.lock, Grant: h.grant, Valid: w.validUntil(e.Until)})
	}
}

// lost records that the client knows. The hold ends here.
func (w *Worker) lost(h *hold, why string) {
	h.once.Do(func() {
		w.shared.Recorder.Record(history.Op{Client: w.client.Name(), Thread: w.config.Thread, Type: history.Lost, Lock: h.lock, Grant: h.grant, Error: why})
		w.shared.Watch(Ended, w.client.Name(), h.lock, h.grant)
		close(h.lost)
	})
}

// revive waits for the client's next life, or for the end of the workload.
func (w *Worker) revive(ctx context.Context, stop <-chan struct{}) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := w.client.Await(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

func (w *Worker) pause(stop <-chan struct{}, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-stop:
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
