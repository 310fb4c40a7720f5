package bench

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	syncpool "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/go-zookeeper/zk"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/cluster"
)

// measured is how long the steps of one comparison take turns.
const measured = 3 * time.Second

// sheet collects lines of a table and prints it.
type sheet struct {
	b *testing.B
	strings.Builder
	w *tabwriter.Writer
}

func newSheet(b *testing.B, heads ...string) *sheet {
	s := &sheet{b: b}
	s.w = tabwriter.NewWriter(s, 0, 4, 2, ' ', 0)
	s.line(heads...)
	return s
}

func (s *sheet) line(cells ...string) { fmt.Fprintln(s.w, strings.Join(cells, "\t")) }

func (s *sheet) print() {
	s.w.Flush()
	s.b.Log("\n" + s.String())
}

// BenchmarkCost measures acquire and release of a lock that nobody else wants, of every strategy on its real servers, against
// the cheapest round trip of the same server in the same run.
func BenchmarkCost(b *testing.B) {
	table := newSheet(b, "lock", "p50 µs", "p99 µs", "round trip", "p50 µs", "ratio")
	for b.Loop() {
		for _, l := range catalog.Locks() {
			if l.Broken() || l.Memory() {
				continue
			}
			b.Run(l.Name, func(b *testing.B) { cost(b, l, table) })
		}
	}
	table.print()
}

func cost(b *testing.B, l catalog.Lock, table *sheet) {
	addrs := up(b, l.Service(), l.Nodes)
	server, _, _ := strings.Cut(l.Name, "/")
	name, trip := roundTrip(b, server, addrs)
	d := times(b, measured, acquireAndRelease(lockClient(b, l.Name, "c1", addrs)), trip)
	ratio := float64(at(d[0], 0.5)) / float64(at(d[1], 0.5))
	b.ReportMetric(ratio, "ratio")
	b.ReportMetric(0, "ns/op")
	table.line(l.Name, micro(at(d[0], 0.5)), micro(at(d[0], 0.99)), name, micro(at(d[1], 0.5)), fmt.Sprintf("%.1f", ratio))
}

// library is somebody else's lock, beside ours for the same servers.
type library struct {
	ours, name string
	nodes      int
	service    func() cluster.Service
	theirs     func(b *testing.B, addrs []string) step
}

func libraries() []library {
	find := func(name string) func() cluster.Service { l, _ := catalog.Find(name); return l.Service }
	return []library{
		{"redis/single", "bsm/redislock", 1, find("redis/single"), redislockStep},
		{"redis/single", "redsync, one server", 1, find("redis/single"), redsyncStep},
		{"redis/redlock", "redsync, five servers", 5, find("redis/redlock"), redsyncStep},
		{"etcd/lease", "concurrency.Mutex, a session each", 3, find("etcd/lease"), concurrencyStep},
		{"etcd/mutex", "concurrency.Mutex, a session each", 3, find("etcd/mutex"), concurrencyStep},
		{"zookeeper/ephemeral", "zk.Lock", 3, find("zookeeper/ephemeral"), zkLockStep},
	}
}

// BenchmarkLibraries measures acquire and release of the reference locks against well-known client libraries' own locks for
// the same servers, in turns.
func BenchmarkLibraries(b *testing.B) {
	table := newSheet(b, "lock", "p50 µs", "p99 µs", "library", "p50 µs", "p99 µs", "ratio of p50")
	for b.Loop() {
		for _, l := range libraries() {
			b.Run(l.ours+" and "+l.name, func(b *testing.B) {
				addrs := up(b, l.service(), l.nodes)
				d := times(b, measured, acquireAndRelease(lockClient(b, l.ours, "c1", addrs)), l.theirs(b, addrs))
				ratio := float64(at(d[0], 0.5)) / float64(at(d[1], 0.5))
				b.ReportMetric(ratio, "ratio")
				b.ReportMetric(0, "ns/op")
				table.line(l.ours, micro(at(d[0], 0.5)), micro(at(d[0], 0.99)), l.name, micro(at(d[1], 0.5)), micro(at(d[1], 0.99)), fmt.Sprintf("%.2f", ratio))
			})
		}
	}
	table.print()
}

const theirTTL = 10 * time.Second

func redislockStep(b *testing.B, addrs []string) step {
	c := redislock.New(redisClient(b, addrs[0]))
	return func(ctx context.Context) error {
		l, err := c.Obtain(ctx, "their-lock", theirTTL, nil)
		if err != nil {
			return err
		}
		return l.Release(ctx)
	}
}

func redsyncStep(b *testing.B, addrs []string) step {
	var pools []syncpool.Pool
	for _, a := range addrs {
		pools = append(pools, goredis.NewPool(redisClient(b, a)))
	}
	rs := redsync.New(pools...)
	return func(ctx context.Context) error {
		m := rs.NewMutex("their-sync", redsync.WithExpiry(theirTTL))
		if err := m.LockContext(ctx); err != nil {
			return err
		}
		_, err := m.UnlockContext(ctx)
		return err
	}
}

func concurrencyStep(b *testing.B, addrs []string) step {
	c := etcdClient(b, addrs[0])
	return func(ctx context.Context) error {
		s, err := concurrency.NewSession(c, concurrency.WithTTL(int(theirTTL.Seconds())), concurrency.WithContext(ctx))
		if err != nil {
			return err
		}
		m := concurrency.NewMutex(s, "their-mutex")
		if err := m.Lock(ctx); err != nil {
			return err
		}
		if err := m.Unlock(ctx); err != nil {
			return err
		}
		return s.Close()
	}
}

func zkLockStep(b *testing.B, addrs []string) step {
	c := zookeeperClient(b, addrs[0])
	return func(context.Context) error {
		l := zk.NewLock(c, "/their-lock", zk.WorldACL(zk.PermAll))
		if err := l.Lock(); err != nil {
			return err
		}
		return l.Unlock()
	}
}
