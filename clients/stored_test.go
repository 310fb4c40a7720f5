package clients

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/memory"
	"github.com/locktest/locktest/stores"
)

// fakeStore answers with one error, and keeps what it was asked for.
type fakeStore struct {
	err    error
	asked  []any
	closed bool
}

func (s *fakeStore) Read(_ context.Context, resource string, token uint64) (stores.State, error) {
	s.asked = append(s.asked, resource, token)
	return stores.State{Version: 41, N: 8}, s.err
}

func (s *fakeStore) Write(_ context.Context, resource string, w stores.Write) error {
	s.asked = append(s.asked, resource, w)
	return s.err
}

func (s *fakeStore) Close() error { s.closed = true; return nil }

func withStore(t *testing.T, s stores.Store) *Shared {
	t.Helper()
	c, err := NewShared(t.Context(), "c1", func(ctx context.Context) (locks.Client, error) {
		l, err := memory.NewLease().Open(ctx, locks.Target{Client: "c1"})
		return WithStore(l, s), err
	}, func(Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestStoreOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want Result
	}{
		"done":              {nil, OK},
		"refused":           {stores.ErrRejected, Rejected},
		"nothing was sent":  {stores.ErrUnavailable, Unavailable},
		"the reply is lost": {errors.New("reset by peer"), Unknown},
		"given up":          {context.DeadlineExceeded, Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			s := &fakeStore{err: c.err}
			client := withStore(t, s)
			do(t, client, Request{Op: OpAcquire, Grant: 1, Lock: "orders", TTL: time.Minute}, OK)
			read := do(t, client, Request{Op: OpRead, Grant: 1, Lock: "orders", Resource: "orders", Token: 7}, c.want)
			do(t, client, Request{Op: OpWork, Grant: 1, Lock: "orders", Resource: "orders", Token: 7, Base: 41, Value: 42, N: 9}, c.want)
			if c.err == nil && (read.Value != 41 || read.N != 8) {
				t.Errorf("read %+v", read)
			}
			if c.err != nil && read.Error == "" {
				t.Error("it doesn't say why")
			}
			if len(s.asked) != 4 || s.asked[1] != uint64(7) || s.asked[3] != (stores.Write{Token: 7, Base: 41, Value: 42, N: 9}) {
				t.Errorf("the store was asked for %v", s.asked)
			}
			if err := client.Close(); err != nil || !s.closed {
				t.Errorf("close: %v, and the store is closed: %v", err, s.closed)
			}
		})
	}
}

// Who knows of the loss doesn't write, and who never had a grant can't.
func TestStoreIsNotWrittenWithoutTheLock(t *testing.T) {
	s := &fakeStore{}
	client := withStore(t, s)
	defer client.Close()
	do(t, client, Request{Op: OpWork, Grant: 5, Lock: "orders", Resource: "orders", Value: 1}, Unknown)
	do(t, client, Request{Op: OpAcquire, Grant: 1, Lock: "orders", TTL: time.Minute}, OK)
	do(t, client, Request{Op: OpRelease, Grant: 1, Lock: "orders"}, OK)
	do(t, client, Request{Op: OpExtend, Grant: 1, Lock: "orders", TTL: time.Minute}, Lost)
	do(t, client, Request{Op: OpWork, Grant: 1, Lock: "orders", Resource: "orders", Value: 1}, Lost)
	if len(s.asked) != 0 {
		t.Errorf("the store was asked for %v", s.asked)
	}
}

func TestReadWithoutAStore(t *testing.T) {
	c := shared(t, memory.NewLease(), "c1", func(Event) {})
	do(t, c, Request{Op: OpRead, Lock: "orders", Resource: "orders"}, Unavailable)
}
