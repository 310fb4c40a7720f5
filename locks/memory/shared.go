package memory

import (
	"context"
	"time"

	"github.com/locktest/locktest/locks"
)

// RWLock is memory/rwlock: a lease that readers share and a writer has alone. While a writer waits no reader more is let
// in.
type RWLock struct{ Lease }

// NewRWLock makes a lock service of its own.
func NewRWLock() *RWLock {
	return &RWLock{Lease{newTable(func(e *entry, g *grant) bool {
		for _, h := range e.holders {
			if !h.shared || !g.shared {
				return false
			}
		}
		return true
	})}}
}

// Claims of leases of ttl.
func (l *RWLock) Claims(ttl time.Duration) locks.Claims {
	c := l.Lease.Claims(ttl)
	c.Shared = true
	return c
}

// Semaphore is memory/semaphore: leases on some of a number of permits.
type Semaphore struct {
	Lease
	limit int
}

// NewSemaphore makes a service with limit permits for each name.
func NewSemaphore(limit int) *Semaphore {
	return &Semaphore{limit: limit, Lease: Lease{newTable(func(e *entry, g *grant) bool {
		taken := g.permits
		for _, h := range e.holders {
			taken += h.permits
		}
		return taken <= limit
	})}}
}

// Claims of leases of ttl.
func (s *Semaphore) Claims(ttl time.Duration) locks.Claims {
	c := s.Lease.Claims(ttl)
	c.Permits = s.limit
	return c
}

// Reentrant is memory/reentrant: a lease that its holder may take again, with the same owner and token, and has to release
// as often. Each acquire of the holder begins the lease anew.
type Reentrant struct {
	Lease
	limit int
}

// NewReentrant makes a service whose locks can be held limit times by one client.
func NewReentrant(limit int) *Reentrant { return &Reentrant{Lease{newTable(nil)}, limit} }

// Claims of leases of ttl.
func (r *Reentrant) Claims(ttl time.Duration) locks.Claims {
	c := r.Lease.Claims(ttl)
	c.Reentry = r.limit
	return c
}

// Open makes a client of this service.
func (r *Reentrant) Open(ctx context.Context, t locks.Target) (locks.Client, error) {
	c, err := r.Lease.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	return &reentrantClient{Client: c, limit: r.limit, outer: map[string]*level{}}, nil
}

type reentrantClient struct {
	locks.Client
	limit int
	outer map[string]*level // the outermost grant by name
}

// level is a grant with the number of those within it, this one included.
type level struct {
	leased
	depth int
}

// Acquire takes the lock again where this client holds it.
func (c *reentrantClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	if l := c.outer[r.Name]; l != nil && l.again(c.limit, r.TTL) {
		return &nestedGrant{level: l}, nil
	}
	got, err := c.Client.Acquire(ctx, r)
	if err != nil {
		return nil, err
	}
	c.outer[r.Name] = &level{leased: got.(leased), depth: 1}
	return &nestedGrant{level: c.outer[r.Name]}, nil
}

// again counts one more, if the grant still holds and isn't as deep as it may be.
func (l *level) again(limit int, ttl time.Duration) bool {
	l.table.mu.Lock()
	defer l.table.mu.Unlock()
	now := time.Now()
	if !l.table.held(l.grant, now) || l.depth >= limit {
		return false
	}
	l.depth++
	l.ttl = ttl
	l.begin(now)
	return true
}

// nestedGrant is one of the acquires of a holder.
type nestedGrant struct {
	*level
	released bool // guarded by the table's lock
}

// Release gives this acquire back; with the last of them the lock is free.
func (g *nestedGrant) Release(ctx context.Context) error {
	last, err := g.countDown()
	if err != nil || !last {
		return err
	}
	return g.leased.Release(ctx)
}

func (g *nestedGrant) countDown() (last bool, err error) {
	g.table.mu.Lock()
	defer g.table.mu.Unlock()
	if g.released || !g.table.held(g.grant, time.Now()) {
		return false, locks.ErrNotHeld
	}
	g.released = true
	g.depth--
	return g.depth == 0, nil
}
