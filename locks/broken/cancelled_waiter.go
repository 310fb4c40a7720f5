package broken

import (
	"context"
	"errors"

	"github.com/locktest/locktest/locks"
)

// NewCancelledWaiter waits in the background: when the caller's patience ends the waiter isn't told, and takes the lock later
// for nobody (etcd-io/jetcd#291, redisson/redisson#5358).
//
// Caught by: liveness
func NewCancelledWaiter() locks.Provider {
	return &abandoning{mistake{grant: rightGrant}}
}

type abandoning struct{ mistake }

// Open makes a client.
func (m *abandoning) Open(ctx context.Context, t locks.Target) (locks.Client, error) {
	c, err := m.mistake.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	return &abandoningClient{c.(*client)}, nil
}

type abandoningClient struct{ *client }

// Acquire leaves its waiter behind when r.Wait is over.
func (c *abandoningClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	try := r
	try.Wait = 0
	l, err := c.client.Acquire(ctx, try)
	if !errors.Is(err, locks.ErrHeld) || r.Wait <= 0 {
		return l, err
	}
	got := make(chan locks.Lock, 1)
	go c.waitOn(r, got)
	ctx, cancel := context.WithTimeout(ctx, r.Wait)
	defer cancel()
	select {
	case l := <-got:
		return l, nil
	case <-ctx.Done():
		return nil, locks.ErrHeld
	}
}

func (c *abandoningClient) waitOn(r locks.Request, got chan<- locks.Lock) {
	for ctx := context.Background(); ; {
		g := c.new(r)
		err := rightGrant(ctx, c.client, g)
		if err == nil {
			got <- g
			return
		}
		if !errors.Is(err, locks.ErrHeld) {
			return
		}
		locks.Sleep(ctx, c.pause())
	}
}
