package redis_test

import (
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/embedded"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/lockstest"
	"github.com/locktest/locktest/locks/redis"
)

const ttl = 300 * time.Millisecond

func TestSingleEmbedded(t *testing.T) {
	conform(t, redis.NewSingle(redis.Options{}), 1, startEmbedded)
}
func TestRedlockEmbedded(t *testing.T) {
	conform(t, redis.NewRedlock(redis.Options{}), 3, startEmbedded)
}
func TestSingle(t *testing.T)  { conform(t, redis.NewSingle(redis.Options{}), 1, startProcess) }
func TestRedlock(t *testing.T) { conform(t, redis.NewRedlock(redis.Options{}), 5, startProcess) }

func TestOtherStrategies(t *testing.T) {
	for name, start := range map[string]func(*testing.T, int) cluster.Cluster{"embedded": startEmbedded, "process": startProcess} {
		for strategy, p := range map[string]locks.Provider{
			"reentrant": redis.NewReentrant(redis.Options{}), "rwlock": redis.NewRWLock(redis.Options{}),
			"semaphore": redis.NewSemaphore(redis.Options{}), "fair": redis.NewFair(redis.Options{}),
			"single, renewed": redis.NewSingle(redis.Options{Renew: ttl / 4}), "fair, renewed": redis.NewFair(redis.Options{Renew: ttl / 4}),
			"rwlock, renewed": redis.NewRWLock(redis.Options{Renew: ttl / 4}), "semaphore, renewed": redis.NewSemaphore(redis.Options{Renew: ttl / 4}),
		} {
			t.Run(strategy+" "+name, func(t *testing.T) { conform(t, p, 1, start) })
		}
	}
}

func conform(t *testing.T, p locks.Provider, nodes int, start func(*testing.T, int) cluster.Cluster) {
	lockstest.Run(t, func(t *testing.T) lockstest.Kit {
		c := start(t, nodes)
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		kit := lockstest.Kit{Provider: p, TTL: ttl}
		for _, n := range c.Nodes() {
			kit.Addrs = append(kit.Addrs, n.Addr())
		}
		return kit
	})
}

func startEmbedded(t *testing.T, nodes int) cluster.Cluster {
	c, err := embedded.New(embedded.Options{Service: redis.Service(), Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func startProcess(t *testing.T, nodes int) cluster.Cluster {
	c, err := process.New(process.Options{Service: redis.Service(), Nodes: nodes, Spawner: clustertest.Spawner(t)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
