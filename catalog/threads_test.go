package catalog_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/clients"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/locks"
)

func TestMain(m *testing.M) {
	if status, done := catalog.Main(os.Args); done {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// Threads of one client of a lock that says that they may share it: the race detector looks on, and nobody is let in beside another.
func TestThreadsShareAClient(t *testing.T) {
	n := 0
	for _, l := range catalog.Locks() {
		if !l.Threads || l.Broken() {
			continue
		}
		n++
		t.Run(l.Name, func(t *testing.T) { shareAClient(t, l) })
	}
	if n == 0 {
		t.Error("no lock's clients may be shared")
	}
}

func shareAClient(t *testing.T, l catalog.Lock) {
	const threads, each = 4, 8
	provider, err := l.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	target := locks.Target{Client: "c1", Addrs: serversFor(t, l), Rand: locks.SharedRand(rand.NewPCG(1, 1)), Log: slog.New(slog.DiscardHandler)}
	c, err := clients.NewShared(t.Context(), "c1", func(ctx context.Context) (locks.Client, error) { return provider.Open(ctx, target) }, func(clients.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	most := int64(max(1, provider.Claims(time.Minute).Permits))
	var grants, inside atomic.Int64
	var wg sync.WaitGroup
	for thread := 1; thread <= threads; thread++ {
		wg.Go(func() {
			for range each {
				r := clients.Request{Op: clients.OpAcquire, Thread: thread, Grant: int(grants.Add(1)), Lock: "shared", TTL: time.Minute, Wait: time.Minute}
				reply, err := c.Do(t.Context(), r)
				if err != nil || reply.Result != clients.OK {
					t.Errorf("acquire %d: %+v, %v", r.Grant, reply, err)
					return
				}
				if in := inside.Add(1); in > most {
					t.Errorf("%d threads are in", in)
				}
				inside.Add(-1)
				r.Op = clients.OpRelease
				if reply, err := c.Do(t.Context(), r); err != nil || reply.Result != clients.OK {
					t.Errorf("release %d: %+v, %v", r.Grant, reply, err)
				}
			}
		})
	}
	wg.Wait()
	if got := grants.Load(); got != threads*each {
		t.Errorf("%d acquires, want %d", got, threads*each)
	}
}

// serversFor starts what l runs on, and returns where it listens.
func serversFor(t *testing.T, l catalog.Lock) (addrs []string) {
	t.Helper()
	o := process.Options{Service: l.Service(), Nodes: l.Nodes}
	if o.Service.Child != "" {
		o.Self = catalog.Self()
	}
	c, _ := clustertest.Up(t, o, "c1")
	for _, node := range c.Nodes() {
		addrs = append(addrs, node.Addr())
	}
	return addrs
}

func TestThreadsAreRefused(t *testing.T) {
	for _, l := range catalog.Locks() {
		if l.Memory() {
			continue
		}
		_, err := resolve(t, "contention", "lock.use="+l.Name, "clients.threads=3")
		if refused := err != nil && strings.Contains(err.Error(), fmt.Sprintf("a client of %s is for one thread", l.Name)); refused == l.Threads {
			t.Errorf("%s, whose clients threads may share is %v: %v", l.Name, l.Threads, err)
		}
	}
}
