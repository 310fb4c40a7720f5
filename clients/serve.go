package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/locktest/locktest/locks"
)

// Opener makes the lock's client that hello asks for.
type Opener func(ctx context.Context, client string, options map[string]any) (locks.Client, error)

// Serve speaks the protocol on in and out until in ends: what `locktest client` does, and what an adapter in Go can do.
// Threads are served side by side, the requests of one in their order.
func Serve(ctx context.Context, in io.Reader, out io.Writer, open Opener) error {
	s := &server{out: out, lanes: map[int]chan Request{}, cancels: map[int64]context.CancelFunc{}}
	sc := bufio.NewScanner(in)
	sc.Buffer(make([]byte, 1<<12), maxLine)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := s.hello(ctx, sc, open); err != nil {
		return err
	}
	defer s.end()
	for sc.Scan() {
		r, err := decodeRequest(sc.Bytes())
		if err != nil {
			s.write(encodeReply(Reply{ID: r.ID, Result: Unknown, Error: "not a request: " + err.Error()}))
			continue
		}
		if r.Op == OpCancel {
			s.cancel(r)
			continue
		}
		if r.Op == OpRenew { // it can't wait for what is under way
			s.session.renewal(r.Mode == PauseRenewal)
			s.write(encodeReply(Reply{ID: r.ID, Result: OK}))
			continue
		}
		s.lane(ctx, r.Thread) <- r
	}
	return sc.Err()
}

type server struct {
	session *session
	lanes   map[int]chan Request
	wg      sync.WaitGroup

	wmu sync.Mutex
	out io.Writer

	mu      sync.Mutex
	cancels map[int64]context.CancelFunc // of the requests that are being served
}

// hello reads the first line and answers it once the lock's client is open.
func (s *server) hello(ctx context.Context, sc *bufio.Scanner, open Opener) error {
	if !sc.Scan() {
		return errors.Join(errors.New("no hello came"), sc.Err())
	}
	var h hello
	if err := json.Unmarshal(sc.Bytes(), &h); err != nil {
		return fmt.Errorf("hello: %w", err)
	}
	if h.Op != OpHello || h.V != Version {
		return fmt.Errorf("hello: got op %q and version %d, expected hello and %d", h.Op, h.V, Version)
	}
	client, err := open(ctx, h.Client, h.Options)
	if err != nil {
		s.write(encodeReply(Reply{ID: h.ID, Result: Unknown, Error: err.Error()}))
		return err
	}
	s.session = newSession(h.Client, client, func(e Event) { s.write(encodeEvent(e)) })
	s.write(line(wireReply{ID: &h.ID, R: OK, Name: "locktest", Version: fmt.Sprint(Version), Caps: []string{"extend", "cancel", "renew", "token", "thread"}}))
	if ms, ok := h.Options["stall_ms"].(float64); ok && ms > 0 {
		go watchStalls(ctx, milliseconds(ms), func(late time.Duration) { s.write(encodeEvent(Event{Kind: Stalled, Late: late})) })
	}
	return nil
}

func (s *server) lane(ctx context.Context, thread int) chan<- Request {
	if s.lanes[thread] == nil {
		lane := make(chan Request, 16)
		s.lanes[thread] = lane
		s.wg.Go(func() {
			for r := range lane {
				s.serve(ctx, r)
			}
		})
	}
	return s.lanes[thread]
}

func (s *server) serve(ctx context.Context, r Request) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.cancels[r.ID] = cancel
	s.mu.Unlock()
	reply := s.session.do(ctx, r)
	s.mu.Lock()
	delete(s.cancels, r.ID)
	s.mu.Unlock()
	s.write(encodeReply(reply))
}

func (s *server) cancel(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.cancels[r.Target]; cancel != nil {
		cancel()
	}
}

func (s *server) write(line []byte) {
	s.wmu.Lock()
	defer s.wmu.Unlock()
	s.out.Write(line) // if nobody reads any more, in has ended too
}

func (s *server) end() {
	for _, lane := range s.lanes {
		close(lane)
	}
	s.mu.Lock()
	for _, cancel := range s.cancels {
		cancel()
	}
	s.mu.Unlock()
	s.wg.Wait()
	s.session.close()
}

// watchStalls tells whenever a timer comes later than limit: while it was late, this process could not run.
func watchStalls(ctx context.Context, limit time.Duration, tell func(late time.Duration)) {
	every := max(limit/4, time.Millisecond)
	t := time.NewTimer(every)
	defer t.Stop()
	for {
		due := time.Now().Add(every)
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if late := time.Since(due); late > limit {
			tell(late)
		}
		t.Reset(every)
	}
}

// WatchStalls is watchStalls for the harness's own process; it returns when ctx ends.
func WatchStalls(ctx context.Context, limit time.Duration, tell func(late time.Duration)) {
	watchStalls(ctx, limit, tell)
}
