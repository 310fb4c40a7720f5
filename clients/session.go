package clients

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/stores"
)

// session carries requests out on a lock's client. It is the same in a client's own process and in the harness's.
type session struct {
	client locks.Client
	store  stores.Store // nil: the guarded resource is the harness's
	name   string
	events func(Event)

	mu      sync.Mutex
	still   bool            // background renewal is paused
	handles map[int]*handle // by grant; kept after a release, so that a second one can be answered
	order   []int           // of the grants in handles, the oldest first
}

// handle is one acquire's lock.
type handle struct {
	lock locks.Lock
	name string
	// unsure: the acquire's outcome is unknown, the lock is only there to clean up by.
	unsure bool
	gone   atomic.Bool   // an extend or a release was told that it isn't held
	done   chan struct{} // closed when nobody need wait for a loss any more
	once   sync.Once
}

func (h *handle) finish() { h.once.Do(func() { close(h.done) }) }

func newSession(name string, c locks.Client, events func(Event)) *session {
	s := &session{client: c, name: name, events: events, handles: map[int]*handle{}}
	if with, ok := c.(*storing); ok {
		s.client, s.store = with.Client, with.store
	}
	return s
}

func (s *session) do(ctx context.Context, r Request) Reply {
	switch r.Op {
	case OpAcquire:
		return s.acquire(ctx, r)
	case OpWork:
		return s.work(ctx, r)
	case OpRead:
		return s.read(ctx, r)
	case OpExtend:
		return s.extend(ctx, r)
	case OpRelease:
		return s.release(ctx, r)
	}
	return Reply{ID: r.ID, Result: Unknown, Error: fmt.Sprintf("unknown op %q", r.Op)}
}

// text is err as it may be told.
func (s *session) text(err error) string {
	if d, ok := s.client.(locks.Discreet); ok {
		return d.Redact(err.Error())
	}
	return err.Error()
}

func (s *session) acquire(ctx context.Context, r Request) Reply {
	if wrong := badAcquire(r); wrong != "" {
		return Reply{ID: r.ID, Result: Unavailable, Error: wrong}
	}
	lock, err := s.client.Acquire(ctx, locks.Request{Name: r.Lock, TTL: r.TTL, Wait: r.Wait, Mode: r.Mode, Permits: r.Permit})
	reply := Reply{ID: r.ID, Result: resultOf(err), Handle: lock != nil && err != nil}
	if err != nil {
		reply.Error = s.text(err)
	}
	if lock == nil {
		return reply
	}
	h := &handle{lock: lock, name: r.Lock, unsure: err != nil, done: make(chan struct{})}
	s.keep(r.Grant, h)
	if lost := lock.Lost(); lost != nil && err == nil {
		go s.watch(r.Grant, h, lost)
	}
	if k, ok := lock.(locks.Renewing); ok && err == nil {
		s.follow(r.Grant, h, k)
	}
	reply.Token, reply.Owner, reply.TTL, reply.Until = lock.Token(), lock.Owner(), lock.TTL(), lock.ValidUntil()
	return reply
}

// badAcquire says what an acquire lacks; nothing is sent then.
func badAcquire(r Request) string {
	switch {
	case r.Lock == "":
		return "no lock is named"
	case r.Grant <= 0:
		return "grant is missing: by what is a release to name it?"
	case r.TTL <= 0:
		return "ttl_ms is missing or not above 0"
	}
	return ""
}

// watch tells of a loss, unless a release is asked for first.
func (s *session) watch(grant int, h *handle, lost <-chan struct{}) {
	select {
	case <-lost:
		s.events(Event{Kind: LostEvent, Client: s.name, Grant: grant, Lock: h.name})
	case <-h.done:
	}
}

// follow tells of each renewal.
func (s *session) follow(grant int, h *handle, k locks.Renewing) {
	s.mu.Lock()
	k.PauseRenewal(s.still)
	s.mu.Unlock()
	go func() {
		for until := range k.Renewed() {
			s.events(Event{Kind: Renewed, Client: s.name, Grant: grant, Lock: h.name, Until: until})
		}
	}()
}

// renewal stops background renewal of all grants, later ones too, or lets it go on.
func (s *session) renewal(still bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.still = still
	for _, h := range s.handles {
		if k, ok := h.lock.(locks.Renewing); ok {
			k.PauseRenewal(still)
		}
	}
}

// work answers lost where the lock's library has told of the loss. Whether the lease has ended by the clock is not
// looked at: a check can be true and the pause come after it.
func (s *session) work(ctx context.Context, r Request) Reply {
	h := s.handle(r.Grant)
	if h == nil {
		return noHandle(r)
	}
	if h.gone.Load() {
		return Reply{ID: r.ID, Result: Lost, Error: "the lock was lost before the write"}
	}
	select {
	case <-h.lock.Lost(): // nil, and so never ready, where the lock can't tell
		return Reply{ID: r.ID, Result: Lost, Error: "the lock was lost before the write"}
	default:
	}
	if s.store == nil {
		return Reply{ID: r.ID, Result: OK}
	}
	return s.write(ctx, r)
}

func (s *session) extend(ctx context.Context, r Request) Reply {
	h := s.handle(r.Grant)
	if h == nil {
		return noHandle(r)
	}
	e, ok := h.lock.(locks.Extender)
	if !ok {
		return Reply{ID: r.ID, Result: Unavailable, Error: "this lock can't be extended"}
	}
	err := e.Extend(ctx, r.TTL)
	reply := Reply{ID: r.ID, Result: resultOf(err), TTL: h.lock.TTL(), Until: h.lock.ValidUntil()}
	if err != nil {
		reply.Error, reply.Until = s.text(err), time.Time{}
	}
	if reply.Result == Lost {
		h.gone.Store(true)
	}
	return reply
}

func (s *session) release(ctx context.Context, r Request) Reply {
	h := s.handle(r.Grant)
	if h == nil {
		return noHandle(r)
	}
	h.finish()
	err := h.lock.Release(ctx)
	reply := Reply{ID: r.ID, Result: resultOf(err)}
	if err != nil {
		reply.Error = s.text(err)
	}
	return reply
}

// noHandle answers for a grant that this client never had, or that an earlier process of it had: what became of it is
// not known here.
func noHandle(r Request) Reply {
	return Reply{ID: r.ID, Result: Unknown, Error: fmt.Sprintf("no handle for grant %d", r.Grant)}
}

// kept is how many handles a session remembers; older ones were released long ago.
const kept = 1024

func (s *session) keep(grant int, h *handle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handles[grant] = h
	s.order = append(s.order, grant)
	if len(s.order) <= kept {
		return
	}
	if old := s.handles[s.order[0]]; old != nil {
		old.finish()
	}
	delete(s.handles, s.order[0])
	s.order = s.order[1:]
}

func (s *session) handle(grant int) *handle {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handles[grant]
}

// abandon ends the watches and the renewal, and nothing else: what is held stays held.
func (s *session) abandon() {
	s.renewal(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.handles {
		h.finish()
	}
}

// close ends the watches and the lock's client.
func (s *session) close() error {
	s.abandon()
	if s.store == nil {
		return s.client.Close()
	}
	return errors.Join(s.store.Close(), s.client.Close())
}
