package broken

import (
	"context"
	"sync"
	"time"

	"github.com/locktest/locktest/locks"
)

// NewStaleRenewal keeps one renewal for each name and ends it with the release. After a lock was lost its entry stays, the
// next grant of that name finds it and starts none, and what is renewed is the old grant, in vain, which nobody looks at
// (redisson/redisson#3712, redisson/redisson#3714).
//
// Caught by: mutual-exclusion
func NewStaleRenewal() locks.Provider {
	return &registered{mistake: mistake{grant: rightGrant, claims: func(c *locks.Claims) { c.Background, c.ReleaseHeld = true, false }}}
}

type registered struct{ mistake }

// Open makes a client.
func (m *registered) Open(ctx context.Context, t locks.Target) (locks.Client, error) {
	c, err := m.mistake.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	return &registeredClient{Client: c, renewals: map[string]*renewal{}}, nil
}

type registeredClient struct {
	locks.Client
	mu       sync.Mutex
	renewals map[string]*renewal
}

// renewal renews the grant that began it.
type renewal struct{ grant *grant }

// Acquire begins a renewal, unless there is one.
func (c *registeredClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	l, err := c.Client.Acquire(ctx, r)
	if err != nil {
		return l, err
	}
	g := l.(*grant)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.renewals[r.Name] == nil {
		c.renewals[r.Name] = &renewal{g}
	}
	k := &believed{grant: g, client: c, told: make(chan time.Time, 1), stop: make(chan struct{})}
	go k.run(c.renewals[r.Name])
	return k, nil
}

// believed is a grant that takes the renewal of its name for its own.
type believed struct {
	*grant
	client *registeredClient
	told   chan time.Time
	stop   chan struct{}
}

func (k *believed) Renewed() <-chan time.Time { return k.told }
func (k *believed) PauseRenewal(bool)         {}

func (k *believed) run(r *renewal) {
	defer close(k.told)
	tick := time.NewTicker(k.ttl / 3)
	defer tick.Stop()
	for {
		select {
		case <-k.stop:
			return
		case <-tick.C:
		}
		sent := time.Now()
		_ = r.grant.eval(context.Background(), compareAndExpire, r.grant.owner, k.ttl.Milliseconds())
		k.validFrom(sent, k.ttl)
		select {
		case k.told <- k.ValidUntil():
		case <-k.stop:
			return
		}
	}
}

// Release ends the renewal only if the lock was still held.
func (k *believed) Release(ctx context.Context) error {
	select {
	case <-k.stop:
	default:
		close(k.stop)
	}
	err := k.grant.Release(ctx)
	if err == nil {
		k.client.mu.Lock()
		defer k.client.mu.Unlock()
		delete(k.client.renewals, k.request.Name)
	}
	return err
}
