package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locktest/locktest/locks"
	pgserver "github.com/locktest/locktest/locks/postgres"
	"github.com/locktest/locktest/stores"
	"github.com/locktest/locktest/stores/postgres"
)

// way is one to add 1 to a row of a PostgreSQL together with others.
type way struct {
	name  string
	check stores.Check
	lock  string // of the catalogue; empty: none is taken
}

func ways() []way {
	return []way{
		{"compare and set", stores.ChecksVersion, ""},
		{"postgres/optimistic, compare and set", stores.ChecksVersion, "postgres/optimistic"},
		{"postgres/advisory, update", stores.IgnoresToken, "postgres/advisory"},
		{"postgres/lease, update with token", stores.ChecksToken, "postgres/lease"},
	}
}

// BenchmarkGuardedUpdate compares no lock at all, and a version that is compared, with a lock around a read and an update: one
// row, one server, 1, 4 and 16 clients with a connection or two each. What was counted must be there in the end.
func BenchmarkGuardedUpdate(b *testing.B) {
	table := newSheet(b, "way", "clients", "updates/s", "aborts")
	for b.Loop() {
		addr := up(b, pgserver.Service(), 1)[0]
		for i, w := range ways() {
			for _, n := range []int{1, 4, 16} {
				b.Run(fmt.Sprintf("%s/%d", w.name, n), func(b *testing.B) {
					updates, aborts := guarded(b, w, addr, fmt.Sprintf("row-%d-%d", i, n), n)
					share := 100 * aborts / (updates + aborts)
					b.ReportMetric(updates/measured.Seconds(), "updates/s")
					b.ReportMetric(share, "aborts-%")
					b.ReportMetric(0, "ns/op")
					table.line(w.name, fmt.Sprint(n), fmt.Sprintf("%.0f", updates/measured.Seconds()), fmt.Sprintf("%.1f %%", share))
				})
			}
		}
	}
	table.print()
}

// guarded lets n clients add for a while, and returns how often they did, and how often they began for nothing.
func guarded(b *testing.B, w way, addr, row string, n int) (updates, aborts float64) {
	var values, done, refused atomic.Int64
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		s := postgres.New(stores.Options{Addr: addr, Check: w.check})
		b.Cleanup(func() { s.Close() })
		var c locks.Client
		if w.lock != "" {
			c = lockClient(b, w.lock, fmt.Sprintf("c%d", i+1), []string{addr})
		}
		if _, err := s.Read(b.Context(), row, 0); err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			<-begin
			for end := time.Now().Add(measured); time.Now().Before(end); {
				switch err := add(b.Context(), s, c, row, &values); {
				case err == nil:
					done.Add(1)
				case errors.Is(err, stores.ErrRejected), errors.Is(err, locks.ErrHeld):
					refused.Add(1)
				default:
					b.Error(err)
					return
				}
			}
		})
	}
	close(begin)
	wg.Wait()
	s := postgres.New(stores.Options{Addr: addr})
	defer s.Close()
	if state, err := s.Read(b.Context(), row, 0); err != nil || state.N != done.Load() {
		b.Fatalf("%d updates were counted, %d are there: %v", done.Load(), state.N, err)
	}
	return float64(done.Load()), float64(refused.Load())
}

// add is one update, under the lock if there is one.
func add(ctx context.Context, s stores.Store, c locks.Client, row string, values *atomic.Int64) (err error) {
	var token uint64
	if c != nil {
		l, err := c.Acquire(ctx, locks.Request{Name: row, TTL: 10 * time.Second, Wait: 10 * time.Second})
		if err != nil {
			return err
		}
		token = uint64(l.Token())
		defer func() { err = errors.Join(err, l.Release(ctx)) }()
	}
	state, err := s.Read(ctx, row, token)
	if err != nil {
		return err
	}
	return s.Write(ctx, row, stores.Write{Token: token, Base: state.Version, Value: values.Add(1), N: state.N + 1})
}
