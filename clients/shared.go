package clients

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/locktest/locktest/locks"
)

// Shared is a client in the harness's own process. A pause or a kill acts between its steps: nothing is signalled.
type Shared struct {
	name string
	open func(ctx context.Context) (locks.Client, error)
	tell func(Event)

	mu      sync.Mutex
	session *session
	dead    bool
	died    chan struct{}                // closed by Kill, made anew by Restart
	paused  int                          // how often, less how often resumed
	gate    chan struct{}                // closed while not paused
	alive   chan struct{}                // closed while not dead
	calls   map[int64]context.CancelFunc // of acquires that are open
	nextID  int64
	ending  sync.WaitGroup // sessions of lives that were killed
}

// NewShared opens the client. Events go to tell, from any goroutine.
func NewShared(ctx context.Context, name string, open func(ctx context.Context) (locks.Client, error), tell func(Event)) (*Shared, error) {
	c := &Shared{name: name, open: open, tell: tell, gate: make(chan struct{}), died: make(chan struct{}), alive: make(chan struct{}), calls: map[int64]context.CancelFunc{}}
	close(c.gate)
	close(c.alive)
	client, err := open(ctx)
	if err != nil {
		return nil, err
	}
	c.session = newSession(name, client, tell)
	return c, nil
}

// Name is c1, c2, …
func (c *Shared) Name() string { return c.name }

// Do waits while the client is paused, before the request and before its reply.
func (c *Shared) Do(ctx context.Context, r Request) (Reply, error) {
	session, err := c.pass(ctx, nil)
	if err != nil {
		return Reply{}, err
	}
	called, end := c.call(ctx, r)
	reply := session.do(called, r)
	end()
	if _, err := c.pass(ctx, session); err != nil {
		return Reply{}, err
	}
	return reply, nil
}

// call is ctx, for an acquire such that CancelCalls ends it.
func (c *Shared) call(ctx context.Context, r Request) (called context.Context, end func()) {
	if r.Op != OpAcquire {
		return ctx, func() {}
	}
	called, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nextID++
	id := c.nextID
	c.calls[id] = cancel
	return called, func() {
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, id)
	}
}

// CancelCalls ends the context of the acquires that are open, and says how many that are. Where there are any, before is called
// first.
func (c *Shared) CancelCalls(_ context.Context, before func()) (int, error) {
	c.mu.Lock()
	dead, open := c.dead, slices.Collect(maps.Values(c.calls))
	c.mu.Unlock()
	if dead {
		return 0, ErrDead
	}
	if len(open) > 0 {
		before()
	}
	for _, cancel := range open {
		cancel()
	}
	return len(open), nil
}

// pass waits until the client is not paused and returns its session, which must still be was, if that is given.
func (c *Shared) pass(ctx context.Context, was *session) (*session, error) {
	for {
		c.mu.Lock()
		session, dead, gate, died := c.session, c.dead, c.gate, c.died
		c.mu.Unlock()
		if dead || was != nil && session != was {
			return nil, ErrDead
		}
		select {
		case <-gate:
			return session, nil
		default:
		}
		select {
		case <-gate:
		case <-died:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Died is closed when the life that the client has now, or had last, has ended.
func (c *Shared) Died() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.died
}

// Await returns once the client lives.
func (c *Shared) Await(ctx context.Context) error {
	c.mu.Lock()
	alive := c.alive
	c.mu.Unlock()
	return await(ctx, alive)
}

func await(ctx context.Context, alive <-chan struct{}) error {
	select {
	case <-alive:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Pause stops the client before its next step.
func (c *Shared) Pause(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused++; c.paused == 1 {
		c.session.renewal(true)
		c.gate = make(chan struct{})
	}
	return nil
}

// Resume ends one Pause.
func (c *Shared) Resume(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused == 0 {
		return nil
	}
	if c.paused--; c.paused == 0 {
		c.session.renewal(false)
		close(c.gate)
	}
	return nil
}

// PauseRenewal stops background renewal, or lets it go on.
func (c *Shared) PauseRenewal(_ context.Context, on bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return ErrDead
	}
	c.session.renewal(on)
	return nil
}

// Kill abandons what the client holds, unreleased, and ends its connections, as a process that dies does: what keeps sessions
// alive would go on without it.
func (c *Shared) Kill(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dead {
		c.dead = true
		session := c.session
		session.abandon()
		c.ending.Go(func() { session.close() }) // whoever is killed waits for nothing, and tells nobody what went wrong
		close(c.died)
		c.alive = make(chan struct{})
	}
	return nil
}

// Restart opens a new client of the same name.
func (c *Shared) Restart(ctx context.Context) error {
	client, err := c.open(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dead {
		return client.Close()
	}
	c.session, c.dead, c.died = newSession(c.name, client, c.tell), false, make(chan struct{})
	close(c.alive)
	if c.paused > 0 {
		c.paused = 0
		close(c.gate)
	}
	return nil
}

// Close closes the lock's client, once those of former lives are closed. A dead one is so already.
func (c *Shared) Close() error {
	c.mu.Lock()
	session, dead := c.session, c.dead
	c.mu.Unlock()
	c.ending.Wait()
	if dead {
		return nil
	}
	return session.close()
}
