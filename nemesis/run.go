package nemesis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/locktest/locktest/history"
)

// Recorder writes the history, and tells the time of the run's clock.
type Recorder interface {
	Record(op history.Op) history.Op
	Since(t time.Time) time.Duration
}

// Run brings plans about until ctx ends, each occurrence by itself, and records what it does. When it returns, everything
// is healed and recorded as such, on errors too, but for what the returned error names. A live target that is absent is
// no error: it is recorded as a fault that was missed.
func Run(ctx context.Context, env Env, plans []Plan, r Recorder) error {
	env.ledger = newLedger(env)
	n := &run{env: env, recorder: r}
	for _, p := range plans {
		if p.On() != "" {
			n.going.Go(func() { n.follow(ctx, &p) })
			continue
		}
		for i, o := range p.Times {
			n.going.Go(func() { n.timed(ctx, &p, i+1, o) })
		}
	}
	n.going.Wait()
	n.healLeft(ctx)
	return errors.Join(n.errs...)
}

type run struct {
	env      Env
	recorder Recorder
	going    sync.WaitGroup

	mu      sync.Mutex
	process int // of the last occurrence: each is a process of its own in the history
	left    []open
	errs    []error
}

// open is an occurrence in force.
type open struct {
	op     history.Op // its fault-begin
	heal   func(context.Context) error
	result func() (string, error) // nil: nothing is to be told
	cut    bool                   // the run ended before the fault did
}

// timed waits for an occurrence of a timed fault and carries it out.
func (n *run) timed(ctx context.Context, p *Plan, number int, o Occurrence) {
	began := n.began()
	if !sleepUntil(ctx, began.Add(o.Begin)) {
		n.record(history.Op{Type: history.FaultMissed, Process: n.nextProcess(), Planned: o.Begin, Error: "the run ended before it"}, p)
		return
	}
	n.once(ctx, p, number, occurrence{begin: o.Begin, lasts: o.For})
}

// follow carries out a fault that events trigger, one occurrence at a time: events during one are passed over.
func (n *run) follow(ctx context.Context, p *Plan) {
	events, cancel := n.env.Watch.Subscribe()
	defer cancel()
	if !sleepUntil(ctx, n.began().Add(p.window.From)) {
		return
	}
	considered, taken := 0, 0
	for limit := p.entry.Trigger.Limit; limit == 0 || taken < limit; {
		drainEvents(events)
		e, ok := next(ctx, events, p.On())
		if !ok {
			return
		}
		considered++
		d := p.Draw(considered)
		if !d.Taken {
			continue
		}
		taken++
		at := time.Now().Add(d.After)
		if !sleepUntil(ctx, at) {
			return // the trigger came too late for this run
		}
		n.once(ctx, p, considered, occurrence{begin: n.recorder.Since(at), lasts: d.For, event: &e})
	}
}

// occurrence is one time that a fault is to be in force.
type occurrence struct {
	begin time.Duration
	lasts time.Duration
	event *Event
}

// once injects, waits and heals.
func (n *run) once(ctx context.Context, p *Plan, number int, o occurrence) {
	op := history.Op{Process: n.nextProcess(), Planned: o.begin, Text: p.Fault.Text()}
	env := n.env
	env.Rand, env.Event = p.rand(number|1<<31), o.event
	began := false
	both, touched, done := untilTouched(ctx)
	defer done()
	env.Begin = func(targets []string, text string) {
		began = true
		touched()
		op.Targets, op.Text = targets, text
		n.record(with(op, history.FaultBegin), p)
	}
	injection, err := p.Fault.Inject(both.inject, env)
	for try := 0; began && errors.Is(err, ErrNoTarget) && try < 3; try++ { // its target died in this moment: another will do
		n.record(with(op, history.FaultEnd), p)
		op.Process, began = n.nextProcess(), false
		injection, err = p.Fault.Inject(both.inject, env)
	}
	if err != nil {
		n.missed(both.run, p, op, began, err, o.event != nil)
		return
	}
	if !began { // a fault of somebody else's that didn't say: better late than never
		env.Begin(injection.Targets, injection.Text)
	}
	end := n.end(p, env, o)
	sleepUntil(both.run, n.began().Add(end))
	op.Planned = end
	n.heal(both.run, p, open{op: op, heal: injection.Heal, result: injection.Result})
}

// untilTouched returns the context for an injection: it ends with the run's while targets are looked for; once they are
// touched the end of the run no longer cuts it short, since half a fault can neither be told nor healed.
func untilTouched(parent context.Context) (both contexts, touched, done func()) {
	inject, cancel := context.WithTimeout(context.WithoutCancel(parent), healLimit)
	stop := context.AfterFunc(parent, cancel)
	return contexts{parent, inject}, func() { stop() }, func() { stop(); cancel() }
}

type contexts struct{ run, inject context.Context }

// end is when an occurrence is to be healed. Its time counts from when it was in effect, so that a pause that is to outlast a
// lease does, however long its target was waited for.
func (n *run) end(p *Plan, env Env, o occurrence) time.Duration {
	lasts := o.lasts
	if d, ok := p.Fault.(interface{ Default(Env) time.Duration }); ok && lasts == 0 {
		lasts = d.Default(env)
	}
	now := n.recorder.Since(time.Now())
	if lasts == 0 {
		return max(p.window.Until, now)
	}
	return now + lasts
}

// missed records that a fault didn't come about. An event's fault that the end of the run cut short was never due.
func (n *run) missed(ctx context.Context, p *Plan, op history.Op, began bool, err error, triggered bool) {
	if began { // it was undone, but for a moment something may have been harmed
		n.record(with(op, history.FaultEnd), p)
	}
	if triggered && ctx.Err() != nil {
		return
	}
	op.Error = err.Error()
	n.record(with(op, history.FaultMissed), p)
	if !errors.Is(err, ErrNoTarget) && ctx.Err() == nil {
		n.fail(fmt.Errorf("fault %d: %w", p.Number, err))
	}
}

// heal ends an occurrence. What can't be healed now is tried once more at the end.
func (n *run) heal(ctx context.Context, p *Plan, o open) {
	o.cut = ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healLimit)
	defer cancel()
	o.op.Fault, o.op.F = p.Number, history.F(p.Fault.Kind())
	if err := o.heal(ctx); err != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.left = append(n.left, o)
		return
	}
	n.ended(o)
}

// ended records what a fault was, now that it is over.
func (n *run) ended(o open) {
	if o.result == nil {
		n.recorder.Record(with(o.op, history.FaultEnd))
		return
	}
	text, err := o.result()
	if text != "" {
		o.op.Text = text
	}
	n.recorder.Record(with(o.op, history.FaultEnd))
	if err != nil && !o.cut {
		o.op.Error = err.Error()
		n.recorder.Record(with(o.op, history.FaultMissed))
	}
}

func (n *run) healLeft(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healLimit)
	defer cancel()
	for _, o := range n.left {
		if err := o.heal(ctx); err != nil {
			n.errs = append(n.errs, fmt.Errorf("heal fault %d (%s): %w", o.op.Fault, o.op.Text, err))
			continue
		}
		n.ended(o)
	}
}

func (n *run) record(op history.Op, p *Plan) {
	op.Client, op.Fault, op.F = "nemesis", p.Number, history.F(p.Fault.Kind())
	if op.Text == "" {
		op.Text = p.Fault.Text()
	}
	n.recorder.Record(op)
}

func (n *run) nextProcess() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.process++
	return n.process
}

func (n *run) fail(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.errs = append(n.errs, err)
}

// began is the zero of the run's clock.
func (n *run) began() time.Time {
	now := time.Now()
	return now.Add(-n.recorder.Since(now))
}

func with(op history.Op, t history.Type) history.Op {
	op.Client, op.Type = "nemesis", t
	return op
}

func next(ctx context.Context, events <-chan Event, kind EventKind) (Event, bool) {
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return Event{}, false
			}
			if e.Kind == kind {
				return e, true
			}
		case <-ctx.Done():
			return Event{}, false
		}
	}
}

// drainEvents forgets what happened while nobody looked.
func drainEvents(events <-chan Event) {
	for {
		select {
		case _, ok := <-events:
			if !ok {
				return
			}
		default:
			return
		}
	}
}

// sleepUntil says false if ctx ended first.
func sleepUntil(ctx context.Context, t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
