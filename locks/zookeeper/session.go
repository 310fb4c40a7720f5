package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/locktest/locktest/locks"
)

// session is one with the servers, over one connection at a time. It ends once, and never begins anew: the library would make
// another one in its place by itself.
type session struct {
	ttl  time.Duration // asked for
	conn *zk.Conn
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
	lost chan struct{} // closed once it has ended, for all that is known
	stop chan struct{}
	up   chan struct{} // closed once a server has granted it
	gone sync.WaitGroup

	mu      sync.Mutex
	touched time.Time // when the last request was sent that has an answer: the server has heard of the session since
	timeout time.Duration
	news    chan struct{} // of length 1: touched or timeout has changed
	link    *link
	ended   bool
}

var errTimeout = errors.New("no answer in time")

// newSession returns once a server has granted it.
func newSession(ctx context.Context, t locks.Target, ttl time.Duration) (*session, error) {
	s := &session{ttl: ttl, timeout: ttl, dial: t.Connect, lost: make(chan struct{}), stop: make(chan struct{}), up: make(chan struct{}), news: make(chan struct{}, 1)}
	servers := &servers{addrs: t.Addrs, stop: s.stop, at: t.Rand.IntN(len(t.Addrs))}
	conn, events, err := zk.Connect(t.Addrs, ttl, zk.WithDialer(s.connect), zk.WithHostProvider(servers), zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		return nil, err
	}
	s.conn = conn
	s.gone.Go(func() { s.watch(events) })
	select {
	case <-s.up:
		if err := s.enter(ctx, t); err != nil {
			s.end()
			return nil, fmt.Errorf("no session: %w", err)
		}
		return s, nil
	case <-ctx.Done():
		s.end()
		return nil, fmt.Errorf("no session: %w", ctx.Err())
	}
}

// enter says who we are, where the servers want to know; the library says it again over each later connection.
func (s *session) enter(ctx context.Context, t locks.Target) error {
	if t.Access.User == "" {
		return nil
	}
	return s.do(ctx, s.ttl, func(c *zk.Conn) error {
		return c.AddAuth("digest", []byte(t.Access.User+":"+t.Access.Password.Reveal()))
	})
}

// isLost says whether it has ended; by the clock too, whether or not its goroutine has run since.
func (s *session) isLost() bool {
	select {
	case <-s.lost:
		return true
	default:
		return !time.Now().Before(s.deadline())
	}
}

func (s *session) granted() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.timeout
}

// do runs f, or gives it up: the library ends it when its connection ends.
func (s *session) do(ctx context.Context, timeout time.Duration, f func(*zk.Conn) error) error {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	done := make(chan error, 1)
	go func() { done <- f(s.conn) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return fmt.Errorf("%w (%v)", errTimeout, timeout)
	}
}

// ask is do for what has an answer. One that comes too late is nobody's.
func ask[T any](ctx context.Context, s *session, timeout time.Duration, f func(*zk.Conn) (T, error)) (T, error) {
	answer := make(chan T, 1)
	err := s.do(ctx, timeout, func(c *zk.Conn) error {
		v, err := f(c)
		answer <- v
		return err
	})
	select {
	case v := <-answer:
		return v, err
	default:
		var none T
		return none, err
	}
}

// end drops the connection without a word. It may be called twice.
func (s *session) end() {
	s.mu.Lock()
	ended, l := s.ended, s.link
	s.ended = true
	s.mu.Unlock()
	if ended {
		return
	}
	close(s.stop)
	if l != nil {
		l.mute()
	}
	s.conn.Close()
	s.gone.Wait()
}

// watch closes lost when the session ends, and then the rest.
func (s *session) watch(events <-chan zk.Event) {
	for s.awaitEnd(events) {
	}
	close(s.lost)
	go s.end() // it waits for this goroutine
	for range events {
	}
}

// awaitEnd waits for one thing to happen, and says whether the session lives on.
func (s *session) awaitEnd(events <-chan zk.Event) bool {
	timer := time.NewTimer(time.Until(s.deadline()))
	defer timer.Stop()
	select {
	case e, ok := <-events:
		return ok && e.State != zk.StateExpired
	case <-timer.C:
		return time.Now().Before(s.deadline())
	case <-s.news:
		return true
	case <-s.stop:
		return false
	}
}

// farAway is the deadline of a session that was not granted yet.
const farAway = 24 * time.Hour

// deadline is until when a server that hears nothing more keeps the session at least, if it was not cut off itself.
func (s *session) deadline() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.touched.IsZero() {
		return time.Now().Add(farAway)
	}
	return s.touched.Add(s.timeout)
}

// heard is called for each answer, with the time at which what it answers was sent.
func (s *session) heard(sent time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sent.After(s.touched) {
		s.touched = sent
	}
	s.tell()
}

// greeted is called for each connection that a server has taken, with the session's time; 0: it has expired.
func (s *session) greeted(timeout time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if timeout == 0 {
		return // the library tells it as an event
	}
	s.timeout = timeout
	select {
	case <-s.up:
	default:
		close(s.up)
	}
	s.tell()
}

func (s *session) tell() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}
