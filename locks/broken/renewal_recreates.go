package broken

import (
	"context"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// NewRenewalRecreates renews in the background by SET, which makes the lock anew where it had ended, over that of another
// (CERT-Polska/Artemis PR 2560, leandromoreira/redlock-rb#36).
//
// Caught by: mutual-exclusion
func NewRenewalRecreates() locks.Provider {
	return &renewing{mistake{grant: rightGrant,
		extend: func(ctx context.Context, g *grant, ttl time.Duration) error {
			sent := time.Now()
			if err := g.node().Set(ctx, g.key, g.owner, ttl).Err(); err != nil {
				return err
			}
			g.validFrom(sent, ttl)
			return nil
		},
		claims: func(c *locks.Claims) { c.Background, c.Expiry = true, history.Lease },
	}}
}

// renewing is a mistake whose grants are renewed by a timer that looks at no lease.
type renewing struct{ mistake }

// Open makes a client.
func (m *renewing) Open(ctx context.Context, t locks.Target) (locks.Client, error) {
	c, err := m.mistake.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	return &renewingClient{c}, nil
}

type renewingClient struct{ locks.Client }

// Acquire starts the timer.
func (c *renewingClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	l, err := c.Client.Acquire(ctx, r)
	if err != nil {
		return l, err
	}
	k := &renewed{grant: l.(*grant), told: make(chan time.Time, 1), stop: make(chan struct{})}
	go k.run(r.TTL)
	return k, nil
}

type renewed struct {
	*grant
	told chan time.Time
	stop chan struct{}
}

func (k *renewed) Renewed() <-chan time.Time { return k.told }
func (k *renewed) PauseRenewal(bool)         {}

func (k *renewed) run(ttl time.Duration) {
	defer close(k.told)
	tick := time.NewTicker(ttl / 3)
	defer tick.Stop()
	for {
		select {
		case <-k.stop:
			return
		case <-tick.C:
		}
		if k.Extend(context.Background(), ttl) == nil {
			select {
			case k.told <- k.ValidUntil():
			case <-k.stop:
				return
			}
		}
	}
}

// Release stops the timer first.
func (k *renewed) Release(ctx context.Context) error {
	select {
	case <-k.stop:
	default:
		close(k.stop)
	}
	return k.grant.Release(ctx)
}
