package workloads

import (
	"context"

	"github.com/locktest/locktest/clients"
	"github.com/locktest/locktest/history"
)

// fetch lets the client read a resource in a store and completes op. What the client reads arrives when its reply does.
func (w *Worker) fetch(ctx context.Context, op history.Op) (version, n int64, ok bool) {
	reply, err := w.do(ctx, clients.Request{Op: clients.OpRead, Grant: op.Grant, Lock: op.Lock, Resource: op.Resource, Token: op.Token})
	op.Error = reply.Error
	r := storeOutcome(reply.Result, err)
	if r.Type == history.OK {
		op.Value, op.Data = reply.Value, number(reply.N)
	}
	w.end(op, r)
	return reply.Value, reply.N, r.Type == history.OK
}

// put lets the client write n on top of the version base, in a store.
func (s *Section) put(ctx context.Context, base, n int64) (version int64, ok bool, err error) {
	w, res, value := s.worker, s.resource(), s.worker.shared.NextValue()
	op := w.begin(history.Op{F: history.Write, Resource: res.Name(), Lock: s.hold.lock, Grant: s.hold.grant, Token: s.hold.token, Value: value, Base: base, Data: number(n)})
	reply, err := w.do(ctx, clients.Request{Op: clients.OpWork, Grant: op.Grant, Lock: op.Lock, Resource: op.Resource, Token: op.Token, Base: base, Value: value, N: n})
	op.Error = reply.Error
	r := storeOutcome(reply.Result, err)
	w.end(op, r)
	if r.Outcome == history.NotHeld {
		w.lost(s.hold, reply.Error)
	}
	return value, r.Type == history.OK, err
}

// storeOutcome: a client that died may have sent what it was asked for.
func storeOutcome(r clients.Result, err error) result {
	switch {
	case err != nil:
		return result{Type: history.Info}
	case r == clients.OK:
		return result{Type: history.OK}
	case r == clients.Rejected:
		return result{history.Fail, history.Rejected}
	case r == clients.Lost:
		return result{history.Fail, history.NotHeld}
	case r == clients.Unavailable:
		return result{Type: history.Fail}
	}
	return result{Type: history.Info}
}
