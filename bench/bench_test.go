// Package bench measures the harness itself: what recording costs, and what clients as processes behind proxies cost
// against the plainest loop over the same server in the same run.
package bench

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/clients"
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/cluster/proxy"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/internal/proc"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/memory"
	"github.com/locktest/locktest/locks/redis"
	"github.com/locktest/locktest/workloads"
)

func TestMain(m *testing.M) {
	if status, done := catalog.Main(os.Args); done {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// span is how long a loop is measured; turn, how long one of several that take turns is.
const (
	span = 3 * time.Second
	turn = 500 * time.Millisecond
)

// BenchmarkRecorder counts operations (an acquire or a release, each two events on the disk) that clients in this process
// do with a lock in memory each, and with one that they share.
func BenchmarkRecorder(b *testing.B) {
	for name, locks := range map[string][]string{"own lock": {"a", "b"}, "shared lock": {"a", "a"}} {
		b.Run(name, func(b *testing.B) {
			var ops float64
			for b.Loop() {
				ops += recorded(b, locks) / span.Seconds()
			}
			b.ReportMetric(ops/float64(b.N), "ops/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// recorded returns how many operations are recorded in span, by a client per lock name.
func recorded(b *testing.B, names []string) float64 {
	provider := memory.NewMutex()
	r, shared := recorder(b, provider.Claims(0), names)
	var users []workloads.Doer
	for i := range names {
		name := fmt.Sprintf("c%d", i+1)
		c, err := clients.NewShared(b.Context(), name, func(ctx context.Context) (locks.Client, error) {
			return provider.Open(ctx, locks.Target{Client: name})
		}, func(clients.Event) {})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		users = append(users, c)
	}
	work(b, users, names, shared, workloads.Config{TTL: time.Second, Wait: time.Second}, span)
	return float64(r.Len()) / 2
}

func recorder(b *testing.B, contract history.Contract, names []string) (*history.Recorder, workloads.Shared) {
	f, err := os.Create(filepath.Join(b.TempDir(), "history.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	r, err := history.NewRecorder(f, history.Header{}, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	var grants, values atomic.Int64
	contracts := map[string]history.Contract{}
	for _, n := range names {
		contracts[n] = contract
	}
	return r, workloads.Shared{Recorder: r, Contracts: contracts, Watch: func(workloads.Step, string, string, int) {},
		NextGrant: func() int { return int(grants.Add(1)) }, NextValue: func() int64 { return values.Add(1) }}
}

// work lets each user acquire and release its lock for so long.
func work(b *testing.B, users []workloads.Doer, names []string, shared workloads.Shared, c workloads.Config, lasts time.Duration) {
	stop := make(chan struct{})
	time.AfterFunc(lasts, func() { close(stop) })
	var wg sync.WaitGroup
	for i, u := range users {
		own := c
		own.Locks = names[i : i+1]
		w := workloads.NewWorker(u, workloads.Mutex{}, own, shared, rand.New(rand.NewPCG(1, uint64(i))))
		wg.Go(func() {
			if err := w.Run(b.Context(), stop); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
}

// rounds is how often the loops of BenchmarkProcesses take turns: what else the machine does then meets all of them.
const rounds = 9

// BenchmarkProcesses compares, on one Redis server, two clients as OS processes behind proxies, recorded, with the plainest
// loop of two goroutines that set and delete a key of their own: directly, and through the same proxies. The three take
// turns; figures are medians over the rounds.
func BenchmarkProcesses(b *testing.B) {
	names := []string{"a", "b"}
	nodes, net := servers(b)
	direct, proxied := []string{nodes[0].Addr(), nodes[0].Addr()}, []string{net.Addr("c1", "n1"), net.Addr("c2", "n1")}
	users, r, shared := fleet(b, net, names)
	var ours, bare, behind, toBare, toProxied []float64
	for b.Loop() {
		for range rounds {
			d, p := loops(b, direct), loops(b, proxied)
			before := r.Len()
			work(b, users, names, shared, workloads.Config{TTL: 10 * time.Second, Wait: time.Second}, turn)
			o := float64(r.Len()-before) / 4 // an acquire and a release, two events each
			ours, bare, behind = append(ours, o), append(bare, d), append(behind, p)
			toBare, toProxied = append(toBare, o/d), append(toProxied, o/p)
		}
	}
	b.ReportMetric(median(ours)/turn.Seconds(), "grants/s")
	b.ReportMetric(median(bare)/turn.Seconds(), "bare/s")
	b.ReportMetric(median(behind)/turn.Seconds(), "proxied/s")
	b.ReportMetric(median(toBare), "ratio-to-bare")
	b.ReportMetric(median(toProxied), "ratio-to-proxied")
	b.ReportMetric(0, "ns/op")
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

func servers(b *testing.B) ([]cluster.Node, cluster.Network) {
	c, err := process.New(process.Options{Service: redis.Service(), Nodes: 1, Spawner: clustertest.Spawner(b)})
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	network, err := proxy.New(proxy.Options{Clients: []string{"c1", "c2"}, Nodes: c.Nodes(), Rand: rand.New(rand.NewPCG(1, 1)), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { network.Close() })
	return c.Nodes(), network
}

// loops returns how often a goroutine per address can set and delete its key in a turn.
func loops(b *testing.B, addrs []string) float64 {
	var total atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(turn)
	for i, addr := range addrs {
		c := goredis.NewClient(&goredis.Options{Addr: addr, Protocol: 2, DisableIdentity: true, Dialer: new(net.Dialer).DialContext})
		defer c.Close()
		key := fmt.Sprintf("bare:%d", i)
		wg.Go(func() {
			for time.Now().Before(end) {
				if err := c.SetArgs(b.Context(), key, "x", goredis.SetArgs{Mode: "NX", TTL: 10 * time.Second}).Err(); err != nil {
					b.Error(err)
					return
				}
				if err := c.Del(b.Context(), key).Err(); err != nil {
					b.Error(err)
					return
				}
				total.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(total.Load())
}

// fleet starts a client process per name, each on redis/single behind its proxy.
func fleet(b *testing.B, net cluster.Network, names []string) ([]workloads.Doer, *history.Recorder, workloads.Shared) {
	r, shared := recorder(b, redis.NewSingle(redis.Options{}).Claims(10*time.Second), names)
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	s := clustertest.Spawner(b)
	var users []workloads.Doer
	for i := range names {
		name := fmt.Sprintf("c%d", i+1)
		c, err := clients.StartProcess(b.Context(), clients.ProcessConfig{Name: name, Spawner: s, Command: proc.Command{Path: self, Args: []string{"client"}},
			Options: map[string]any{"lock": "redis/single", "servers": []string{net.Addr(name, "n1")}}, Tell: func(clients.Event) {}, Log: slog.New(slog.DiscardHandler),
			Stderr: filepath.Join(b.TempDir(), name+".stderr"), Stdout: filepath.Join(b.TempDir(), name+".stdout")})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { c.Close() })
		users = append(users, c)
	}
	return users, r, shared
}
