package bench

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/locks"
)

// up starts servers, and returns where they listen: what is measured goes past all links but those between the servers.
func up(b *testing.B, s cluster.Service, nodes int) (addrs []string) {
	o := process.Options{Service: s, Nodes: nodes}
	if s.Child != "" {
		o.Self = catalog.Self()
	}
	c, _ := clustertest.Up(b, o, "c1")
	for _, node := range c.Nodes() {
		addrs = append(addrs, node.Addr())
	}
	return addrs
}

// lockClient opens a client of a lock of the catalogue.
func lockClient(b *testing.B, name, client string, addrs []string) locks.Client {
	l, ok := catalog.Find(name)
	if !ok {
		b.Fatalf("there is no lock %s", name)
	}
	p, err := l.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	c, err := p.Open(b.Context(), locks.Target{Client: client, Addrs: addrs, Rand: rand.New(rand.NewPCG(1, uint64(len(client)))), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}

// step is something that is done again and again by one client.
type step func(context.Context) error

// acquireAndRelease is what a lock costs where nobody else wants it.
func acquireAndRelease(c locks.Client) step {
	return func(ctx context.Context) error {
		l, err := c.Acquire(ctx, locks.Request{Name: "cost", TTL: 10 * time.Second, Wait: 10 * time.Second})
		if err != nil {
			return err
		}
		return l.Release(ctx)
	}
}

func redisClient(b *testing.B, addr string) *goredis.Client {
	c := goredis.NewClient(&goredis.Options{Addr: addr, Protocol: 2, DisableIdentity: true, Dialer: new(net.Dialer).DialContext})
	b.Cleanup(func() { c.Close() })
	return c
}

func etcdClient(b *testing.B, addr string) *clientv3.Client {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, DialTimeout: 10 * time.Second, Logger: zap.NewNop(), DialOptions: []grpc.DialOption{grpc.WithNoProxy()}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}

func zookeeperClient(b *testing.B, addrs ...string) *zk.Conn {
	c, _, err := zk.Connect(addrs, 10*time.Second, zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	return c
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// roundTrip is the cheapest request of a server's, and its name.
func roundTrip(b *testing.B, server string, addrs []string) (string, step) {
	switch server {
	case "redis":
		c := redisClient(b, addrs[0])
		return "PING", func(ctx context.Context) error { return c.Ping(ctx).Err() }
	case "postgres":
		c, err := pgx.Connect(b.Context(), "postgres://postgres@"+addrs[0]+"/postgres?sslmode=disable&default_query_exec_mode=simple_protocol")
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { c.Close(context.Background()) })
		return "SELECT 1", func(ctx context.Context) error { _, err := c.Exec(ctx, "SELECT 1"); return err }
	case "etcd":
		c := etcdClient(b, addrs[0])
		return "Get", func(ctx context.Context) error { _, err := c.Get(ctx, "nothing"); return err }
	case "zookeeper":
		c := zookeeperClient(b, addrs[0])
		return "Exists", func(context.Context) error { _, _, err := c.Exists("/nothing"); return err }
	}
	b.Fatalf("there is no server %s", server)
	return "", nil
}

// Steps take turns, each so often, after so many that aren't counted: what else the machine does meets all of them.
const (
	inTurn  = 20
	warming = 20
)

// times lets steps take turns for so long, and returns the durations of each, in order of length.
func times(b *testing.B, lasts time.Duration, steps ...step) [][]time.Duration {
	out := make([][]time.Duration, len(steps))
	for i, s := range steps {
		for range warming {
			if err := s(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		out[i] = make([]time.Duration, 0, 1024)
	}
	for end := time.Now().Add(lasts); time.Now().Before(end); {
		for i, s := range steps {
			for range inTurn {
				began := time.Now()
				if err := s(b.Context()); err != nil {
					b.Fatal(err)
				}
				out[i] = append(out[i], time.Since(began))
			}
		}
	}
	for i := range out {
		slices.Sort(out[i])
	}
	return out
}

// at is the share q of sorted durations.
func at(d []time.Duration, q float64) time.Duration { return d[int(q*float64(len(d)-1))] }

func micro(d time.Duration) string { return fmt.Sprintf("%.0f", float64(d)/float64(time.Microsecond)) }
