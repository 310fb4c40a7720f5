package workloads

import (
	"context"
	"encoding/json"
	"time"

	"github.com/locktest/locktest/clients"
	"github.com/locktest/locktest/history"
)

// Section is a critical section: what a workload can do while its client holds the lock.
type Section struct {
	worker *Worker
	hold   *hold
}

// Read reads the guarded resource with the grant's token. ok is false where the resource refused it: then the client knows that
// it is no holder any more; or where, in a store, nothing came of it.
func (s *Section) Read(ctx context.Context) (version, n int64, ok bool) {
	if early := s.hold.early; early != nil {
		return early.version, early.n, true
	}
	w, res := s.worker, s.resource()
	op := w.begin(history.Op{F: history.Read, Resource: res.Name(), Lock: s.hold.lock, Grant: s.hold.grant, Token: s.hold.token})
	if res.stored() {
		return w.fetch(ctx, op)
	}
	return res.Read(op)
}

// Write sends the client the write of n on top of the version base; the client's reply, when it comes, is the write.
// It returns false where the resource refused it or the client knew better than to write.
func (s *Section) Write(ctx context.Context, base, n int64) (bool, error) {
	_, ok, err := s.write(ctx, base, n)
	return ok, err
}

// write is Write, and returns the version that it made.
func (s *Section) write(ctx context.Context, base, n int64) (version int64, ok bool, err error) {
	if s.resource().stored() {
		return s.put(ctx, base, n)
	}
	return s.send(ctx, base, number(n), func(r *Resource, op history.Op) bool { return r.Write(op, n) })
}

// send sends the client a write that says data, and lets land carry it out in the resource.
func (s *Section) send(ctx context.Context, base int64, data json.RawMessage, land func(*Resource, history.Op) bool) (version int64, ok bool, err error) {
	w, res, value := s.worker, s.resource(), s.worker.shared.NextValue()
	op := w.begin(history.Op{F: history.Write, Resource: res.Name(), Lock: s.hold.lock, Grant: s.hold.grant, Token: s.hold.token, Value: value, Base: base, Data: data})
	if res.check == ChecksInTwoSteps && !res.allows(op) {
		return 0, false, nil
	}
	reply, err := w.do(ctx, clients.Request{Op: clients.OpWork, Grant: s.hold.grant, Lock: s.hold.lock, Resource: res.Name(), Base: base, Value: value})
	op.Error = reply.Error
	switch {
	case err != nil || reply.Result == clients.Unknown || reply.Result == clients.Unavailable:
		// The resource is in the harness and no reply reached it: nothing was written.
		w.end(op, result{Type: history.Fail})
		return 0, false, err
	case reply.Result != clients.OK:
		w.end(op, result{history.Fail, history.NotHeld})
		w.lost(s.hold, reply.Error)
		return 0, false, nil
	}
	return value, land(res, op), nil
}

// Hold keeps the lock for d, extending the lease on the way if the workload does that. It returns false once the client
// knows that it lost the lock.
func (s *Section) Hold(ctx context.Context, d time.Duration) (bool, error) {
	end := time.Now().Add(d)
	for {
		left := time.Until(end)
		step := left
		if every := s.worker.config.Extend; every > 0 && every < left {
			step = every
		}
		held := s.keep(ctx, step)
		switch {
		case closed(s.hold.died):
			return false, clients.ErrDead
		case !held || ctx.Err() != nil:
			return held, ctx.Err()
		}
		if step == left || !time.Now().Before(end) {
			return true, nil
		}
		if held, err := s.extend(ctx); !held || err != nil {
			return held, err
		}
	}
}

// HoldTime draws how long to hold. A section that fits into a lease doesn't outlast what a slow grant has left of it: the
// client would know. One that is meant to be longer than a lease, or whose lease is over already, is as drawn.
func (s *Section) HoldTime() time.Duration {
	c := s.worker.config
	d := c.Hold.draw(s.worker.rand)
	left := time.Until(s.hold.valid)
	if s.hold.valid.IsZero() || left <= 0 || c.Hold.Max >= c.TTL || c.Extend > 0 {
		return d
	}
	return min(d, max(0, left-c.TTL/20))
}

// raises draws whether the section ends in an error of its own before it wrote. The lock is released all the same.
func (s *Section) raises() bool {
	w := s.worker
	return w.config.Fail > 0 && w.rand.Float64() < w.config.Fail
}

func (s *Section) resource() *Resource { return s.worker.shared.Resources[s.hold.lock] }

// keep waits for d, unless the lock is lost before.
func (s *Section) keep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return !closed(s.hold.lost)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return !closed(s.hold.lost)
	case <-s.hold.lost:
		return false
	case <-s.hold.died:
		return true
	case <-ctx.Done():
		return true
	}
}

// extend returns false where the lease is certainly gone. An unknown answer leaves the belief as it was.
func (s *Section) extend(ctx context.Context) (bool, error) {
	w := s.worker
	w.shared.Watch(Extending, w.client.Name(), s.hold.lock, s.hold.grant)
	op := w.begin(history.Op{F: history.Extend, Lock: s.hold.lock, Grant: s.hold.grant, TTL: w.config.TTL})
	reply, err := w.do(ctx, clients.Request{Op: clients.OpExtend, Grant: s.hold.grant, Lock: s.hold.lock, TTL: w.config.TTL})
	op.Error = reply.Error
	r := outcome(reply.Result, err, history.NotHeld)
	if r.Type == history.OK {
		if reply.TTL > 0 {
			op.TTL = reply.TTL
		}
		op.Valid = w.validUntil(reply.Until)
	}
	w.end(op, r)
	if r.Outcome == history.NotHeld {
		w.lost(s.hold, "extend: "+reply.Error)
		return false, nil
	}
	return true, err
}

// readOnly is the section of a drain.
func readOnly(ctx context.Context, s *Section) error {
	if s.resource() != nil {
		s.Read(ctx)
	}
	return nil
}

// Mutex only holds.
type Mutex struct{}

func (Mutex) Name() string       { return "mutex" }
func (Mutex) UsesResource() bool { return false }

// Section holds for the time that was drawn.
func (Mutex) Section(ctx context.Context, s *Section) error {
	_, err := s.Hold(ctx, s.HoldTime())
	return err
}

// Counter reads n, thinks, and writes n+1. Two sections on one version are a lost update.
type Counter struct{}

func (Counter) Name() string       { return "counter" }
func (Counter) UsesResource() bool { return true }

// Section adds one.
func (Counter) Section(ctx context.Context, s *Section) error {
	return readHoldWrite(ctx, s, func(n, _ int64) int64 { return n + 1 })
}

// Register reads, thinks, and writes a value of its own.
type Register struct{}

func (Register) Name() string       { return "register" }
func (Register) UsesResource() bool { return true }

// Section writes the grant's number.
func (Register) Section(ctx context.Context, s *Section) error {
	return readHoldWrite(ctx, s, func(_, grant int64) int64 { return grant })
}

func readHoldWrite(ctx context.Context, s *Section, next func(n, grant int64) int64) error {
	version, n, ok := s.Read(ctx)
	if !ok {
		return nil
	}
	held, err := s.Hold(ctx, s.HoldTime())
	if !held || err != nil || s.raises() {
		return err
	}
	_, err = s.Write(ctx, version, next(n, int64(s.hold.grant)))
	return err
}
