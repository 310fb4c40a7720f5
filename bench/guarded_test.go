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
// row, one server, 1, 4 and 16 clients. The ways take turns; figures are medians over the rounds. What was counted must be there
// in the end.
func BenchmarkGuardedUpdate(b *testing.B) {
	table := newSheet(b, "clients", "way", "updates/s", "to the first", "begun for nothing")
	for b.Loop() {
		addr := up(b, pgserver.Service(), 1)[0]
		for _, n := range []int{1, 4, 16} {
			var crowds []*crowd
			for i, w := range ways() {
				crowds = append(crowds, newCrowd(b, w, addr, fmt.Sprintf("row-%d-%d", i, n), n))
			}
			for range rounds {
				for _, c := range crowds {
					c.work(b)
				}
			}
			first := median(crowds[0].rates)
			for i, c := range crowds {
				c.check(b)
				rate := median(c.rates)
				table.line(fmt.Sprint(n), ways()[i].name, fmt.Sprintf("%.0f", rate), fmt.Sprintf("%.2f", rate/first), fmt.Sprintf("%.1f %%", 100*float64(c.refused.Load())/float64(c.refused.Load()+c.done.Load())))
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	table.print()
}

// crowd is clients that add to one row in one way.
type crowd struct {
	addr, row             string
	stores                []stores.Store
	locks                 []locks.Client // nil where none is taken
	values, done, refused atomic.Int64
	rates                 []float64 // updates a second, of each turn
}

func newCrowd(b *testing.B, w way, addr, row string, n int) *crowd {
	c := &crowd{addr: addr, row: row}
	for i := range n {
		s := postgres.New(stores.Options{Addr: addr, Check: w.check, Timeout: 20 * time.Second})
		b.Cleanup(func() { s.Close() })
		if _, err := s.Read(b.Context(), row, 0); err != nil {
			b.Fatal(err)
		}
		c.stores = append(c.stores, s)
		if w.lock != "" {
			c.locks = append(c.locks, lockClient(b, w.lock, fmt.Sprintf("c%d", i+1), []string{addr}))
		}
	}
	return c
}

// work lets all of them add for a turn.
func (c *crowd) work(b *testing.B) {
	before, began := c.done.Load(), time.Now()
	var wg sync.WaitGroup
	for i, s := range c.stores {
		var lock locks.Client
		if c.locks != nil {
			lock = c.locks[i]
		}
		wg.Go(func() {
			for time.Since(began) < turn {
				switch err := add(b.Context(), s, lock, c.row, &c.values); {
				case err == nil:
					c.done.Add(1)
				case errors.Is(err, stores.ErrRejected), errors.Is(err, locks.ErrHeld):
					c.refused.Add(1)
				default:
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	c.rates = append(c.rates, float64(c.done.Load()-before)/time.Since(began).Seconds())
}

func (c *crowd) check(b *testing.B) {
	if state, err := c.stores[0].Read(b.Context(), c.row, 0); err != nil || state.N != c.done.Load() {
		b.Fatalf("%d updates were counted, %d are there: %v", c.done.Load(), state.N, err)
	}
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
