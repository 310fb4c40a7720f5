package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/proxy"
)

var (
	there = cluster.Link{From: "c1", To: "n1"}
	back  = cluster.Link{From: "n1", To: "c1"}
	both  = cluster.Both("c1", "n1")
	pass  = cluster.Condition{}
)

func one(t *testing.T) (*server, *proxy.Network) {
	t.Helper()
	s := newServer(t, "n1")
	return s, newNetwork(t, 1, s)
}

func TestPass(t *testing.T) {
	s, n := one(t)
	c := mustConnect(t, n)
	for i := range 100 {
		line := strconv.Itoa(i)
		c.send(t, line)
		c.wantReply(t, line)
	}
	c.Close()
	eventually(t, "the server sees the client's end", func() bool { return s.ended() == 1 })
}

func TestServersEndReachesTheClient(t *testing.T) {
	s, n := one(t)
	c := mustConnect(t, n)
	c.send(t, "x")
	c.wantReply(t, "x")
	s.stop()
	if _, err := c.receive(limit); !isEOF(err) {
		t.Errorf("received %v, want the end", err)
	}
}

func TestHold(t *testing.T) {
	hold := cluster.Condition{Mode: cluster.Hold}
	t.Run("to the node: the request is carried out after healing", func(t *testing.T) {
		s, n := one(t)
		c := mustConnect(t, n)
		c.send(t, "before")
		c.wantReply(t, "before")
		set(t, n, hold, there)
		c.send(t, "x")
		c.wantSilence(t)
		if s.has("x") {
			t.Error("the request went through a held link")
		}
		set(t, n, pass, there)
		c.wantReply(t, "x")
	})
	t.Run("from the node: the request is carried out, its reply late", func(t *testing.T) {
		s, n := one(t)
		c := mustConnect(t, n)
		set(t, n, hold, back)
		c.send(t, "x")
		eventually(t, "the server has the request", func() bool { return s.has("x") })
		c.wantSilence(t)
		set(t, n, pass, back)
		c.wantReply(t, "x")
	})
	t.Run("keeps the client's end back", func(t *testing.T) {
		s, n := one(t)
		c := mustConnect(t, n)
		c.send(t, "before")
		c.wantReply(t, "before")
		set(t, n, hold, both...)
		c.send(t, "x")
		c.Close()
		time.Sleep(quiet)
		if s.ended() != 0 || s.has("x") {
			t.Errorf("through a held link the server saw %d ends; request: %v", s.ended(), s.has("x"))
		}
		set(t, n, pass, both...)
		eventually(t, "the request and then the end arrive", func() bool { return s.has("x") && s.ended() == 1 })
	})
	t.Run("keeps the server's end back", func(t *testing.T) {
		s, n := one(t)
		c := mustConnect(t, n)
		c.send(t, "before")
		c.wantReply(t, "before")
		set(t, n, hold, back)
		s.stop()
		c.wantSilence(t)
		set(t, n, pass, back)
		c.wantEnd(t)
	})
	t.Run("a new connection is accepted and silent", func(t *testing.T) {
		s, n := one(t)
		set(t, n, hold, both...)
		c := mustConnect(t, n)
		c.send(t, "x")
		c.wantSilence(t)
		if s.connections() != 0 {
			t.Error("the server saw a connection through a held link")
		}
		set(t, n, pass, both...)
		c.wantReply(t, "x")
	})
	t.Run("leaves other links alone", func(t *testing.T) {
		s1, s2 := newServer(t, "n1"), newServer(t, "n2")
		n := newNetwork(t, 2, s1, s2)
		set(t, n, hold, both...)
		for _, pair := range [][2]string{{"c1", "n2"}, {"c2", "n1"}, {"c2", "n2"}} {
			c, err := connect(n.Addr(pair[0], pair[1]))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.send(t, "x")
			c.wantReply(t, "x")
		}
	})
	t.Run("more than fits into the gate", func(t *testing.T) {
		_, n := one(t)
		c := mustConnect(t, n)
		set(t, n, hold, there)
		big := strings.Repeat("y", 32<<10)
		sent := make(chan error, 1)
		const lines = 256 // 8 MiB
		go func() {
			var err error
			for i := 0; i < lines && err == nil; i++ {
				_, err = fmt.Fprintln(c, big)
			}
			sent <- err
		}()
		c.wantSilence(t)
		set(t, n, pass, there)
		for range lines {
			c.wantReply(t, big)
		}
		if err := <-sent; err != nil {
			t.Error(err)
		}
	})
}

func TestDrop(t *testing.T) {
	drop := cluster.Condition{Mode: cluster.Drop}
	t.Run("what is sent is gone, and the connection ends at healing", func(t *testing.T) {
		s, n := one(t)
		c := mustConnect(t, n)
		c.send(t, "before")
		c.wantReply(t, "before")
		set(t, n, drop, there)
		c.send(t, "x")
		c.wantSilence(t)
		set(t, n, pass, there)
		c.wantReset(t)
		eventually(t, "the server sees the end", func() bool { return s.ended() == 1 })
		if s.has("x") {
			t.Error("a dropped request arrived")
		}
		again := mustConnect(t, n)
		again.send(t, "y")
		again.wantReply(t, "y")
	})
	t.Run("from the node: carried out, the reply is gone", func(t *testing.T) {
		s, n := one(t)
		c := mustConnect(t, n)
		set(t, n, drop, back)
		c.send(t, "x")
		eventually(t, "the server has the request", func() bool { return s.has("x") })
		c.wantSilence(t)
		set(t, n, pass, back)
		c.wantReset(t)
	})
	t.Run("a hold that outlasts it keeps the end back", func(t *testing.T) {
		_, n := one(t)
		c := mustConnect(t, n)
		c.send(t, "before")
		c.wantReply(t, "before")
		set(t, n, drop, there)
		c.send(t, "x")
		set(t, n, cluster.Condition{Mode: cluster.Hold}, both...)
		c.wantSilence(t)
		set(t, n, pass, both...)
		c.wantReset(t)
	})
}

func TestRefuse(t *testing.T) {
	s, n := one(t)
	c := mustConnect(t, n)
	c.send(t, "before")
	c.wantReply(t, "before")
	addr := n.Addr("c1", "n1")
	set(t, n, cluster.Condition{Mode: cluster.Refuse}, there)
	c.wantReset(t)
	wantRefused(t, addr)
	eventually(t, "the server sees the end", func() bool { return s.ended() == 1 })
	set(t, n, pass, there)
	if n.Addr("c1", "n1") != addr {
		t.Errorf("the address has changed from %s to %s", addr, n.Addr("c1", "n1"))
	}
	again := mustConnect(t, n)
	again.send(t, "x")
	again.wantReply(t, "x")
}

func TestNodeDown(t *testing.T) {
	ctx := context.Background()
	s, n := one(t)
	c := mustConnect(t, n)
	c.send(t, "before")
	c.wantReply(t, "before")
	if err := n.NodeDown(ctx, "n1"); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, n.Addr("c1", "n1"))
	set(t, n, cluster.Condition{Mode: cluster.Hold}, both...)
	held := mustConnect(t, n) // nobody can refuse it
	held.wantSilence(t)
	s.stop()
	set(t, n, pass, both...)
	held.wantEnd(t)
	wantRefused(t, n.Addr("c1", "n1"))
	if err := n.NodeUp(ctx, "n1"); err != nil {
		t.Fatal(err)
	}
	dead, err := connect(n.Addr("c1", "n1")) // the node is still gone, and nobody said so
	if err == nil {
		defer dead.Close()
		_, err = dead.receive(limit)
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("connection to a node that has gone: %v, want a reset", err)
	}
}

func TestLatency(t *testing.T) {
	const lines = 200
	tests := []struct {
		name      string
		condition cluster.Condition
		least     time.Duration
	}{
		{"fixed", cluster.Condition{Latency: 60 * time.Millisecond}, 60 * time.Millisecond},
		{"with jitter", cluster.Condition{Latency: 60 * time.Millisecond, Jitter: 50 * time.Millisecond}, 10 * time.Millisecond},
		{"jitter above latency", cluster.Condition{Latency: time.Millisecond, Jitter: 20 * time.Millisecond}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, n := one(t)
			c := mustConnect(t, n)
			c.send(t, "before")
			c.wantReply(t, "before")
			set(t, n, tt.condition, there)
			began := time.Now()
			for i := range lines {
				c.send(t, strconv.Itoa(i))
				time.Sleep(100 * time.Microsecond) // so that each is a chunk of its own
			}
			c.wantReply(t, "0")
			if d := time.Since(began); d < tt.least {
				t.Errorf("the first reply came after %v, before the latency of %v could have passed", d, tt.least)
			}
			for i := 1; i < lines; i++ {
				c.wantReply(t, strconv.Itoa(i)) // in order
			}
			// One chunk per latency would take 12 s.
			if d := time.Since(began); tt.condition.Latency > 10*time.Millisecond && d > lines*tt.condition.Latency/2 {
				t.Errorf("%d lines took %v: they wait for each other", lines, d)
			}
			set(t, n, pass, there)
			c.send(t, "after")
			c.wantReply(t, "after")
		})
	}
}

// All connections of a link share its rate, each byte is carried once, and a change of the rate counts from then on.
func TestRate(t *testing.T) {
	_, n := one(t)
	a, b := mustConnect(t, n), mustConnect(t, n)
	for _, c := range []*client{a, b} {
		c.send(t, "before")
		c.wantReply(t, "before")
	}
	const bytes = 2000
	set(t, n, cluster.Condition{Rate: 2 * bytes * 4}, there) // both lines take a quarter of a second
	line := strings.Repeat("y", bytes-1)
	began := time.Now()
	a.send(t, line)
	b.send(t, line)
	a.wantReply(t, line)
	b.wantReply(t, line)
	if d := time.Since(began); d < time.Second/4 {
		t.Errorf("%d bytes in two connections took %v", 2*bytes, d)
	}
	set(t, n, cluster.Condition{Rate: 1}, there)
	a.send(t, line) // would take half an hour
	a.wantSilence(t)
	set(t, n, pass, there)
	a.wantReply(t, line)
}

func TestLatencyDelaysTheEndToo(t *testing.T) {
	s, n := one(t)
	c := mustConnect(t, n)
	set(t, n, cluster.Condition{Latency: quiet}, there)
	began := time.Now()
	c.send(t, "x")
	c.Close()
	eventually(t, "the server sees the end", func() bool { return s.ended() == 1 })
	if d := time.Since(began); d < quiet || !s.has("x") {
		t.Errorf("the end came after %v, with the request before it: %v", d, s.has("x"))
	}
}

func TestUnknownLinkChangesNothing(t *testing.T) {
	_, n := one(t)
	err := n.Set(context.Background(), cluster.Condition{Mode: cluster.Refuse}, there, cluster.Link{From: "n1", To: "n2"})
	if err == nil || !strings.Contains(err.Error(), "from n1 to n2") {
		t.Fatalf("Set() = %v, want an error that names the link", err)
	}
	c := mustConnect(t, n)
	c.send(t, "x")
	c.wantReply(t, "x")
	if !n.Has(there) || !n.Has(back) || n.Has(cluster.Link{From: "c1", To: "n2"}) {
		t.Error("Has() is wrong about which links there are")
	}
	if got := n.Addr("n1", "n2"); got != "" {
		t.Errorf("Addr of no pair = %q", got)
	}
}

func TestPortsAreBelowTheRangeOfSourcePorts(t *testing.T) {
	s := newServer(t, "n1")
	n := newNetwork(t, 5, s)
	for i := range 5 {
		_, text, err := net.SplitHostPort(n.Addr(fmt.Sprintf("c%d", i+1), "n1"))
		if port, _ := strconv.Atoi(text); err != nil || port >= 32768 {
			t.Errorf("port %s (%v)", text, err)
		}
	}
}

func TestClose(t *testing.T) {
	for _, mode := range []cluster.Mode{cluster.Pass, cluster.Hold, cluster.Drop, cluster.Refuse} {
		t.Run(mode.String(), func(t *testing.T) {
			_, n := one(t)
			c := mustConnect(t, n)
			c.send(t, "before")
			c.wantReply(t, "before")
			set(t, n, cluster.Condition{Mode: mode}, both...)
			for range 2 {
				if err := n.Close(); err != nil {
					t.Fatal(err)
				}
			}
			c.wantEnd(t)
			wantRefused(t, n.Addr("c1", "n1"))
			if err := n.Set(context.Background(), pass, both...); err == nil {
				t.Error("a closed network changed a link")
			}
		})
	}
}

func wantRefused(t *testing.T, addr string) {
	t.Helper()
	c, err := connect(addr)
	if err == nil {
		c.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial %s: %v, want it refused", addr, err)
	}
}
