// Package memory holds locks in the harness's own process: the correct controls. They are not distributed, and say so;
// they know no server, no link and no other process.
package memory

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// table is the lock service: which grants hold which name. One serves all clients of a run.
type table struct {
	admits func(e *entry, g *grant) bool // whether g may join those who hold; nil: nobody else may
	mu     sync.Mutex
	names  map[string]*entry
	seq    int // of owner values
}

// entry is one lock. A holder whose lease ended is no holder, whether or not anybody looked.
type entry struct {
	holders []*grant
	token   locks.Token   // the last one granted
	changed chan struct{} // closed when the holders change, nil while nobody waits
	writers int           // of those who wait
}

func newTable(admits func(*entry, *grant) bool) *table {
	return &table{admits: admits, names: map[string]*entry{}}
}

// live forgets the holders whose leases have ended.
func (e *entry) live(now time.Time) {
	e.holders = slices.DeleteFunc(e.holders, func(g *grant) bool { return g.expired(now) })
}

// expires is when the first lease of a holder ends; zero: none does.
func (e *entry) expires() time.Time {
	var first time.Time
	for _, h := range e.holders {
		if first.IsZero() || !h.until.IsZero() && h.until.Before(first) {
			first = h.until
		}
	}
	return first
}

// owner makes a value that no other grant of the table has.
func (t *table) owner(client string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seq++
	return client + "-" + strconv.Itoa(t.seq)
}

// client of a table.
type client struct {
	table *table
	name  string
	lease bool
}

func (c *client) Close() error { return nil }

// Acquire waits for the lock in no order: whoever wakes first gets it.
func (c *client) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	g := &grant{table: c.table, name: r.Name, owner: c.table.owner(c.name), shared: r.Mode == history.Shared, permits: max(1, r.Permits)}
	if c.lease {
		g.ttl, g.lost = r.TTL, make(chan struct{})
	}
	return c.wait(ctx, r, g)
}

func (c *client) wait(ctx context.Context, r locks.Request, g *grant) (locks.Lock, error) {
	var limit <-chan time.Time // made when first needed: a lock that is free costs no timer
	for {
		changed, expires, ok := c.table.try(g)
		if ok {
			return g, nil
		}
		if r.Wait <= 0 {
			return nil, locks.ErrHeld
		}
		if limit == nil {
			defer c.table.waits(g)()
			t := time.NewTimer(r.Wait)
			defer t.Stop()
			limit = t.C
		}
		if !c.table.await(ctx, changed, expires, limit) {
			return nil, locks.ErrHeld // nothing is queued for g: giving up is certain
		}
	}
}

// await returns false when the wait has ended.
func (t *table) await(ctx context.Context, changed <-chan struct{}, expires time.Time, limit <-chan time.Time) bool {
	var expiry <-chan time.Time
	if !expires.IsZero() {
		timer := time.NewTimer(time.Until(expires))
		defer timer.Stop()
		expiry = timer.C
	}
	select {
	case <-changed:
		return true
	case <-expiry:
		return true
	case <-limit:
		return false
	case <-ctx.Done():
		return false
	}
}

// try grants the lock to g, or says what to wait for.
func (t *table) try(g *grant) (changed <-chan struct{}, expires time.Time, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.names[g.name]
	if e == nil {
		e = &entry{}
		t.names[g.name] = e
	}
	now := time.Now()
	e.live(now)
	if len(e.holders) > 0 && (t.admits == nil || !t.admits(e, g)) || g.shared && e.writers > 0 {
		if e.changed == nil {
			e.changed = make(chan struct{})
		}
		return e.changed, e.expires(), false
	}
	e.token++
	g.token = e.token
	g.begin(now)
	e.holders = append(e.holders, g)
	return nil, time.Time{}, true
}

// waits counts g among those who wait until the function that it returns is called: while a writer waits, no reader more
// is let in.
func (t *table) waits(g *grant) (end func()) {
	count := func(n int) {
		t.mu.Lock()
		defer t.mu.Unlock()
		e := t.names[g.name]
		if g.shared || t.admits == nil {
			return
		}
		e.writers += n
		if n < 0 {
			e.wake()
		}
	}
	count(1)
	return func() { count(-1) }
}

func (e *entry) wake() {
	if e.changed != nil {
		close(e.changed)
		e.changed = nil
	}
}

// held returns whether g still holds; the table is locked.
func (t *table) held(g *grant, now time.Time) bool {
	return slices.Contains(t.names[g.name].holders, g) && !g.expired(now)
}

// grant is one hold. Its fields but lost change only under the table's lock.
type grant struct {
	table *table
	name  string
	owner string

	shared  bool
	permits int

	token locks.Token
	ttl   time.Duration // 0: it never expires
	until time.Time
	timer *time.Timer // closes lost at the lease's end
	lost  chan struct{}
	once  sync.Once
}

func (g *grant) begin(now time.Time) {
	if g.ttl <= 0 {
		return
	}
	g.until = now.Add(g.ttl)
	if g.timer != nil {
		g.timer.Stop()
	}
	g.timer = time.AfterFunc(g.ttl, g.lose)
}

func (g *grant) expired(now time.Time) bool { return g.ttl > 0 && !now.Before(g.until) }

// lose tells the holder, unless it was extended or released since.
func (g *grant) lose() {
	g.table.mu.Lock()
	gone := g.expired(time.Now())
	g.table.mu.Unlock()
	if gone {
		g.once.Do(func() { close(g.lost) })
	}
}

func (g *grant) Owner() string         { return g.owner }
func (g *grant) Token() locks.Token    { return g.token }
func (g *grant) TTL() time.Duration    { return g.ttl }
func (g *grant) Lost() <-chan struct{} { return g.lost }

func (g *grant) ValidUntil() time.Time {
	g.table.mu.Lock()
	defer g.table.mu.Unlock()
	return g.until
}

// Release frees the lock if g still holds it.
func (g *grant) Release(context.Context) error {
	g.table.mu.Lock()
	defer g.table.mu.Unlock()
	if !g.table.held(g, time.Now()) {
		return locks.ErrNotHeld
	}
	if g.timer != nil {
		g.timer.Stop()
	}
	e := g.table.names[g.name]
	e.holders = slices.DeleteFunc(e.holders, func(h *grant) bool { return h == g })
	e.wake()
	return nil
}

// leased is a grant that can be extended.
type leased struct{ *grant }

// Extend moves the end of the lease to ttl from now, if g still holds.
func (g leased) Extend(_ context.Context, ttl time.Duration) error {
	g.table.mu.Lock()
	defer g.table.mu.Unlock()
	now := time.Now()
	if !g.table.held(g.grant, now) {
		return locks.ErrNotHeld
	}
	g.ttl = ttl
	g.begin(now)
	return nil
}
