package proxy_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/proxy"
)

// Clients ask and check that each reply belongs to its request, while links and nodes change at random. In the end
// everything is healed and every client must get an answer.
func TestRandomChangesNeverMixRepliesOrHang(t *testing.T) {
	const clients, nodes, steps = 6, 3, 400
	var servers []cluster.Node
	for i := range nodes {
		servers = append(servers, newServer(t, fmt.Sprintf("n%d", i+1)))
	}
	n := newNetwork(t, clients, servers...)
	stop := make(chan struct{})
	var asked atomic.Int64
	var wg sync.WaitGroup
	for i := range clients {
		r := rand.New(rand.NewPCG(7, uint64(i)))
		wg.Go(func() { askUntil(t, n, stop, fmt.Sprintf("c%d", i+1), nodes, r, &asked) })
	}

	r := rand.New(rand.NewPCG(11, 13))
	for range steps {
		step(t, n, r, clients, nodes)
		time.Sleep(time.Duration(r.IntN(4)) * time.Millisecond)
	}
	heal(t, n, clients, nodes)
	close(stop)
	wg.Wait()
	if asked.Load() == 0 {
		t.Error("no client ever got a reply")
	}
	t.Logf("%d replies during %d changes", asked.Load(), steps)
	for c := range clients {
		for s := range nodes {
			conn, err := connect(n.Addr(fmt.Sprintf("c%d", c+1), fmt.Sprintf("n%d", s+1)))
			if err != nil {
				t.Fatal(err)
			}
			conn.send(t, "healed")
			conn.wantReply(t, "healed")
			conn.Close()
		}
	}
}

func askUntil(t *testing.T, n *proxy.Network, stop <-chan struct{}, name string, nodes int, r *rand.Rand, asked *atomic.Int64) {
	var c *client
	for i := 0; ; i++ {
		select {
		case <-stop:
			if c != nil {
				c.Close()
			}
			return
		default:
		}
		if c == nil {
			var err error
			if c, err = connect(n.Addr(name, fmt.Sprintf("n%d", 1+r.IntN(nodes)))); err != nil {
				time.Sleep(time.Millisecond)
				continue
			}
		}
		line := fmt.Sprintf("%s-%d", name, i)
		_, err := fmt.Fprintln(c, line)
		if err == nil {
			var got string
			got, err = c.receive(time.Duration(5+r.IntN(20)) * time.Millisecond)
			if err == nil && got != "re "+line+"\n" {
				t.Errorf("%s asked %q and was told %q", name, line, got)
			}
		}
		if err != nil { // a reply may still come, so that this connection can't be used again
			c.Close()
			c = nil
			continue
		}
		asked.Add(1)
	}
}

func step(t *testing.T, n *proxy.Network, r *rand.Rand, clients, nodes int) {
	t.Helper()
	ctx := context.Background()
	node := fmt.Sprintf("n%d", 1+r.IntN(nodes))
	var err error
	switch r.IntN(10) {
	case 0:
		err = n.NodeDown(ctx, node)
	case 1:
		err = n.NodeUp(ctx, node)
	default:
		c := cluster.Condition{Mode: cluster.Mode(r.IntN(4))}
		if r.IntN(2) == 0 {
			c = cluster.Condition{Latency: time.Duration(r.IntN(4)) * time.Millisecond, Jitter: time.Duration(r.IntN(3)) * time.Millisecond}
		}
		links := cluster.Both(fmt.Sprintf("c%d", 1+r.IntN(clients)), node)
		err = n.Set(ctx, c, links[r.IntN(2):]...)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func heal(t *testing.T, n *proxy.Network, clients, nodes int) {
	t.Helper()
	for s := range nodes {
		node := fmt.Sprintf("n%d", s+1)
		if err := n.NodeUp(context.Background(), node); err != nil {
			t.Fatal(err)
		}
		for c := range clients {
			set(t, n, pass, cluster.Both(fmt.Sprintf("c%d", c+1), node)...)
		}
	}
}
