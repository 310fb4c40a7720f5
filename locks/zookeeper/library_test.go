package zookeeper_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/zookeeper"
)

// An answer that comes when its request was given up is written nowhere: the race detector sees it otherwise.
func TestLibraryGivesRequestsUp(t *testing.T) {
	c, n := up(t, 1)
	client, err := zookeeper.NewLibrary(zookeeper.Options{}).Open(t.Context(), locks.Target{Client: "c1", Addrs: []string{n.Addr("c1", c.Nodes()[0].Name())},
		Rand: rand.New(rand.NewPCG(1, 1)), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	r := locks.Request{Name: "orders", TTL: 5 * time.Second}
	for i := range 12 {
		l, err := client.Acquire(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*100*time.Microsecond)
		if l, err := client.Acquire(ctx, r); err == nil {
			if err := l.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
		} else if l != nil { // it may have been granted: the session is left to end, which the next acquire waits for
			r.Name += "x"
		}
		cancel()
		time.Sleep(5 * time.Millisecond) // let the answer come: another request would put it in an order
	}
}
