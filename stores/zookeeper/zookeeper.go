// Package zookeeper is a store in a ZooKeeper server: for each resource a node for the fence and one for the rest, which a multi
// changes together and only if neither has changed since they were read. It knows no lock.
//
// One server alone, as it is used here, answers reads from its newest state. Of several, one may lag behind.
package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/locktest/locktest/stores"
)

// Store implements stores.Store.
type Store struct {
	options stores.Options

	mu     sync.Mutex
	conn   *zk.Conn // nil until it is needed
	known  map[string]bool
	last   map[string]seen // what each resource was when it was read last
	closed bool
}

// New makes a store, which dials with its first request.
func New(o stores.Options) *Store {
	return &Store{options: o.WithDefaults(), known: map[string]bool{}, last: map[string]seen{}}
}

// seen is what a node said, and by which of its versions a change is conditional.
type seen struct {
	fence        uint64
	state        stores.State
	fenceVersion int32
	stateVersion int32
}

// Read advances the fence, and returns what stood beside it.
func (s *Store) Read(ctx context.Context, resource string, token uint64) (stores.State, error) {
	answer := make(chan stores.State, 1) // one that comes too late is nobody's
	err := s.with(ctx, resource, func(c *zk.Conn) error {
		got, err := s.admit(c, resource, token)
		answer <- got.state
		return err
	})
	select {
	case state := <-answer:
		return state, err
	default:
		return stores.State{}, err
	}
}

// Write is a multi on top of what was read before it; in two steps, what was read counts no more.
func (s *Store) Write(ctx context.Context, resource string, w stores.Write) error {
	return s.with(ctx, resource, func(c *zk.Conn) error {
		if s.options.Check == stores.ChecksInTwoSteps {
			if _, err := s.admit(c, resource, w.Token); err != nil {
				return stores.FirstStep(err)
			}
			if err := s.options.Between(ctx); err != nil {
				return err
			}
			_, err := c.Multi(&zk.SetDataRequest{Path: statePath(resource), Data: encode(w), Version: anyVersion})
			return err
		}
		return s.write(c, resource, w)
	})
}

// write begins with what was read last, so that it is one request where nobody else came in between.
func (s *Store) write(c *zk.Conn, resource string, w stores.Write) error {
	got, known := s.recall(resource)
	return s.again(func() error {
		changes, err := s.changes(resource, got, w)
		if !known || err != nil {
			if got, err = s.look(c, resource); err != nil {
				return stores.FirstStep(err)
			}
			if changes, err = s.changes(resource, got, w); err != nil {
				return err
			}
		}
		known = false
		_, err = c.Multi(changes...)
		return err
	})
}

// anyVersion is the version that every node has.
const anyVersion = -1

// changes are those of a write, each on the condition that makes the check one step.
func (s *Store) changes(resource string, got seen, w stores.Write) ([]any, error) {
	set := &zk.SetDataRequest{Path: statePath(resource), Data: encode(w), Version: anyVersion}
	switch {
	case s.options.Check == stores.ChecksVersion:
		if got.state.Version != w.Base {
			return nil, fmt.Errorf("%w: version %d is the current one", stores.ErrRejected, got.state.Version)
		}
		set.Version = got.stateVersion
	case s.options.Check.Tokens() && w.Token != 0:
		if w.Token < got.fence {
			return nil, tooLow(got)
		}
		return []any{&zk.SetDataRequest{Path: fencePath(resource), Data: number(w.Token), Version: got.fenceVersion}, set}, nil
	}
	return []any{set}, nil
}

// admit compares a token with the fence and advances that, where tokens are checked.
func (s *Store) admit(c *zk.Conn, resource string, token uint64) (got seen, err error) {
	err = s.again(func() error {
		if got, err = s.look(c, resource); err != nil || !s.options.Check.Tokens() || token == 0 {
			return err
		}
		if token < got.fence {
			return tooLow(got)
		}
		// What was read is returned, so that it must still be so when the fence is advanced.
		_, err = c.Multi(&zk.SetDataRequest{Path: fencePath(resource), Data: number(token), Version: got.fenceVersion}, &zk.CheckVersionRequest{Path: statePath(resource), Version: got.stateVersion})
		if err == nil {
			got.fence, got.fenceVersion = token, got.fenceVersion+1
			s.remember(resource, got)
		}
		return err
	})
	return got, err
}

// again repeats what somebody else's change came before: then nothing was changed.
func (s *Store) again(f func() error) error {
	for {
		if err := f(); !errors.Is(err, zk.ErrBadVersion) {
			return err
		}
	}
}

func tooLow(got seen) error {
	return fmt.Errorf("%w: it has seen token %d", stores.ErrRejected, got.fence)
}

func (s *Store) recall(resource string) (seen, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got, ok := s.last[resource]
	return got, ok
}

func (s *Store) remember(resource string, got seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[resource] = got
}

// look reads both nodes, the fence first: what is done on top of them is conditional on both.
func (s *Store) look(c *zk.Conn, resource string) (got seen, err error) {
	b, stat, err := c.Get(fencePath(resource))
	if err != nil {
		return seen{}, err
	}
	got.fenceVersion = stat.Version
	if got.fence, err = strconv.ParseUint(string(b), 10, 64); err != nil {
		return seen{}, err
	}
	if b, stat, err = c.Get(statePath(resource)); err != nil {
		return seen{}, err
	}
	got.stateVersion = stat.Version
	if _, err = fmt.Sscanf(string(b), "%d %d", &got.state.Version, &got.state.N); err == nil {
		s.remember(resource, got)
	}
	return got, err
}

func encode(w stores.Write) []byte     { return fmt.Appendf(nil, "%d %d", w.Value, w.N) }
func number(token uint64) []byte       { return strconv.AppendUint(nil, token, 10) }
func fencePath(resource string) string { return parent + "/" + resource + "-fence" }
func statePath(resource string) string { return parent + "/" + resource }

const parent = "/locktest-resources"

// sessionTimeout is longer than a request may take: a session's end must not be what ends it.
const sessionTimeout = 10 * time.Second

// with calls f with a session and the resource's nodes there, and gives it up after the timeout: the library itself waits for as
// long as the connection lasts.
func (s *Store) with(ctx context.Context, resource string, f func(*zk.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	c, err := s.open()
	if err != nil {
		return fmt.Errorf("%w: %w", stores.ErrUnavailable, err)
	}
	if err := await(ctx, c); err != nil {
		return fmt.Errorf("%w: %w", stores.ErrUnavailable, err)
	}
	if err := limited(ctx, func() error { return s.prepare(c, resource) }); err != nil {
		return fmt.Errorf("%w: %w", stores.ErrUnavailable, err)
	}
	return limited(ctx, func() error { return f(c) })
}

func limited(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) open() (*zk.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, net.ErrClosed
	}
	if s.conn != nil {
		return s.conn, nil
	}
	dial := func(network, addr string, timeout time.Duration) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		return s.options.Dial(ctx, network, addr)
	}
	conn, _, err := zk.Connect([]string{s.options.Addr}, sessionTimeout, zk.WithDialer(dial), zk.WithLogger(silent{}), zk.WithLogInfo(false))
	s.conn = conn
	return conn, err
}

// await returns once there is a session: requests would wait for one themselves, and then not tell whether they were sent.
func await(ctx context.Context, c *zk.Conn) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for c.State() != zk.StateHasSession {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("no session: %w", ctx.Err())
		}
	}
	return nil
}

// prepare makes what may be made twice.
func (s *Store) prepare(c *zk.Conn, resource string) error {
	s.mu.Lock()
	known := s.known[resource]
	s.mu.Unlock()
	if known {
		return nil
	}
	for _, n := range []struct{ path, data string }{{parent, ""}, {statePath(resource), "0 0"}, {fencePath(resource), "0"}} {
		if _, err := c.Create(n.path, []byte(n.data), 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[resource] = true
	return nil
}

// Close ends the session.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil && !s.closed {
		go s.conn.Close() // it says good-bye, for which it waits
	}
	s.closed = true
	return nil
}

// silent takes what the library would print.
type silent struct{}

func (silent) Printf(string, ...any) {}
