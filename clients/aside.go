package clients

import (
	"context"
	"fmt"
)

// CancelCalls asks the client to give up the acquires that it has open, and says how many that are; each is answered all the
// same. Where there are any, before is called first.
func (p *Process) CancelCalls(_ context.Context, before func()) (int, error) {
	p.mu.Lock()
	l := p.life
	var open []int64
	for id, c := range l.open {
		if c.op == OpAcquire {
			open = append(open, id)
		}
	}
	dead := l.killed
	p.mu.Unlock()
	if dead {
		return 0, ErrDead
	}
	if len(open) > 0 {
		before()
	}
	for i, id := range open {
		if err := l.send(encodeRequest(Request{ID: -id, Op: OpCancel, Target: id})); err != nil {
			return i, fmt.Errorf("cancel a call of %s: %w", p.config.Name, err)
		}
	}
	return len(open), nil
}

// PauseRenewal stops background renewal in the client, or lets it go on. It returns once that is so.
func (p *Process) PauseRenewal(ctx context.Context, on bool) error {
	mode := ResumeRenewal
	if on {
		mode = PauseRenewal
	}
	reply, err := p.Do(ctx, Request{Op: OpRenew, Mode: mode})
	if err == nil && reply.Result != OK {
		err = fmt.Errorf("client %s can't pause its renewal: %s %s", p.config.Name, reply.Result, reply.Error)
	}
	return err
}
