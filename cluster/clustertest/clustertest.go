// Package clustertest is what every kind of cluster must do: a kit of tests for package cluster's contracts. It knows no kind
// and no server; a Kit says how to store something on a node.
package clustertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
)

// Kit is one kind of cluster under test.
type Kit struct {
	// New makes one with two nodes or more, not started. Run closes it.
	New func(t *testing.T) cluster.Cluster
	// Put and Get store at a node; ok says whether the key was there.
	Put func(ctx context.Context, addr, key, value string) error
	Get func(ctx context.Context, addr, key string) (value string, ok bool, err error)
	// KeepsData says that what Put stored is there after Kill and Restart with cluster.WithData.
	KeepsData bool
	// Moves says that a node may come back at another address.
	Moves bool
	// LastWords says that a server of several processes may still say something while it is killed, since they don't end at once.
	LastWords bool
}

// limit is how long anything may take that is to happen.
const limit = 30 * time.Second

// quiet is how long nothing may happen where nothing is to happen: a right cluster passes however long or short it is.
const quiet = 150 * time.Millisecond

// Run runs every test whose powers the nodes have.
func Run(t *testing.T, k Kit) {
	t.Run("answers once started", k.started)
	t.Run("kill and restart", k.killAndRestart)
	t.Run("kill cuts connections", k.killCuts)
	t.Run("kill and restart in the wrong order", k.wrongOrder)
	t.Run("pause and resume", k.pause)
	t.Run("pause of a node that is down", k.pauseDown)
	t.Run("kill while paused", k.killPaused)
	t.Run("faults on all nodes at once", k.atOnce)
	t.Run("close", k.close)
	t.Run("start under a dead context", k.deadStart)
}

func (k Kit) start(t *testing.T) (cluster.Cluster, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	c := k.New(t)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	must(t, "start", c.Start(ctx))
	return c, ctx
}

func (k Kit) started(t *testing.T) {
	c, ctx := k.start(t)
	if n := len(c.Nodes()); n < 2 {
		t.Fatalf("%d nodes, the kit needs two", n)
	}
	var addrs []string
	for i, n := range c.Nodes() {
		if want := fmt.Sprintf("n%d", i+1); n.Name() != want {
			t.Errorf("node %d is called %q, want %q", i, n.Name(), want)
		}
		if slices.Contains(addrs, n.Addr()) {
			t.Errorf("two nodes listen at %s", n.Addr())
		}
		addrs = append(addrs, n.Addr())
		host, _, err := net.SplitHostPort(n.Addr())
		if err != nil || !net.ParseIP(host).IsLoopback() {
			t.Errorf("node %s is at %q, want a loopback address", n.Name(), n.Addr())
		}
		must(t, "put", k.Put(ctx, n.Addr(), "key", n.Name()))
	}
	for _, n := range c.Nodes() {
		k.want(ctx, t, n, "key", n.Name()) // each its own data
	}
	if c.Describe() == "" {
		t.Error("Describe() is empty")
	}
}

func (k Kit) killAndRestart(t *testing.T) {
	for _, with := range []cluster.Restart{cluster.WithData, cluster.Empty} {
		t.Run(string(with), func(t *testing.T) {
			c, ctx := k.start(t)
			n := c.Nodes()[0]
			killer := power[cluster.Killer](t, n)
			addr := n.Addr()
			must(t, "put", k.Put(ctx, addr, "key", "before"))
			must(t, "kill", killer.Kill(ctx))
			wantRefused(ctx, t, addr)
			k.wantAnswer(ctx, t, c.Nodes()[1])
			must(t, "restart", killer.Restart(ctx, with))
			if n.Addr() != addr && !k.Moves {
				t.Errorf("it came back at %s, want %s", n.Addr(), addr)
			}
			want := ""
			if with == cluster.WithData && k.KeepsData {
				want = "before"
			}
			k.want(ctx, t, n, "key", want)
		})
	}
}

func (k Kit) killCuts(t *testing.T) {
	c, ctx := k.start(t)
	n := c.Nodes()[0]
	killer := power[cluster.Killer](t, n)
	conn := dial(ctx, t, n.Addr())
	k.wantAnswer(ctx, t, n) // so that conn was accepted too
	must(t, "kill", killer.Kill(ctx))
	conn.SetReadDeadline(time.Now().Add(limit))
	said, err := io.ReadAll(conn)
	var netErr net.Error
	if errors.As(err, &netErr) && netErr.Timeout() || len(said) > 0 && !k.LastWords {
		t.Errorf("read from a killed node: %q, %v, want the connection's end", said, err)
	}
}

func (k Kit) wrongOrder(t *testing.T) {
	c, ctx := k.start(t)
	n := c.Nodes()[0]
	killer := power[cluster.Killer](t, n)
	if err := killer.Restart(ctx, cluster.WithData); err == nil {
		t.Error("a running node was restarted")
	}
	must(t, "kill", killer.Kill(ctx))
	must(t, "kill again", killer.Kill(ctx))
	if err := killer.Restart(ctx, "yesterday's"); err == nil {
		t.Error("a node was restarted with data of no known kind")
	}
	for _, with := range []cluster.Restart{cluster.WithPrefix, "yesterday's"} {
		checker, ok := n.(cluster.RestartChecker)
		if ok && checker.CanRestart(with) != nil && killer.Restart(ctx, with) == nil {
			t.Errorf("it said that it can't restart with %s, and did", with)
		}
	}
	must(t, "restart", killer.Restart(ctx, cluster.Empty))
	k.wantAnswer(ctx, t, n)
}

func (k Kit) pause(t *testing.T) {
	c, ctx := k.start(t)
	n := c.Nodes()[0]
	pauser := power[cluster.Pauser](t, n)
	for _, round := range []string{"first", "second"} {
		must(t, "pause", pauser.Pause(ctx))
		put := make(chan error, 1)
		go func() { put <- k.Put(ctx, n.Addr(), "key", round) }()
		select {
		case err := <-put:
			t.Fatalf("%s pause: the node answered (%v)", round, err)
		case <-time.After(quiet):
		}
		k.wantAnswer(ctx, t, c.Nodes()[1])
		must(t, "resume", pauser.Resume(ctx))
		must(t, "put that was sent during the pause", <-put)
		k.want(ctx, t, n, "key", round)
	}
	must(t, "resume again", pauser.Resume(ctx))
	k.wantAnswer(ctx, t, n)
}

func (k Kit) pauseDown(t *testing.T) {
	c, ctx := k.start(t)
	n := c.Nodes()[0]
	killer, pauser := power[cluster.Killer](t, n), power[cluster.Pauser](t, n)
	must(t, "kill", killer.Kill(ctx))
	if err := pauser.Pause(ctx); err == nil {
		t.Error("a node that is down was paused")
	}
	must(t, "resume", pauser.Resume(ctx))
}

func (k Kit) killPaused(t *testing.T) {
	c, ctx := k.start(t)
	n := c.Nodes()[0]
	killer, pauser := power[cluster.Killer](t, n), power[cluster.Pauser](t, n)
	must(t, "put", k.Put(ctx, n.Addr(), "key", "before"))
	must(t, "pause", pauser.Pause(ctx))
	conn := dial(ctx, t, n.Addr())
	sent := make(chan error, 1)
	go func() { sent <- k.Put(ctx, n.Addr(), "key", "never carried out") }()
	time.Sleep(quiet) // lets it be sent; the test holds without, too
	must(t, "kill", killer.Kill(ctx))
	if err := <-sent; err == nil {
		t.Error("a node that was killed while paused answered")
	}
	conn.Close()
	must(t, "resume", pauser.Resume(ctx))
	must(t, "restart", killer.Restart(ctx, cluster.WithData))
	want := ""
	if k.KeepsData {
		want = "before"
	}
	k.want(ctx, t, n, "key", want)
}

func (k Kit) atOnce(t *testing.T) {
	c, ctx := k.start(t)
	var wg sync.WaitGroup
	for _, n := range c.Nodes() {
		killer, pauser := power[cluster.Killer](t, n), power[cluster.Pauser](t, n)
		wg.Go(func() { pauser.Pause(ctx) }) // an error where the kill came first
		wg.Go(func() {
			if err := killer.Kill(ctx); err != nil {
				t.Errorf("kill: %v", err)
			}
			if err := killer.Restart(ctx, cluster.Empty); err != nil {
				t.Errorf("restart: %v", err)
			}
		})
	}
	wg.Wait()
	for _, n := range c.Nodes() {
		must(t, "resume", n.(cluster.Pauser).Resume(ctx))
		k.wantAnswer(ctx, t, n)
	}
}

func (k Kit) close(t *testing.T) {
	c, ctx := k.start(t)
	nodes := c.Nodes()
	if killer, ok := nodes[0].(cluster.Killer); ok {
		must(t, "kill", killer.Kill(ctx))
	}
	if pauser, ok := nodes[1].(cluster.Pauser); ok {
		must(t, "pause", pauser.Pause(ctx))
	}
	must(t, "close", c.Close())
	must(t, "close again", c.Close())
	for _, n := range nodes {
		wantRefused(ctx, t, n.Addr())
	}
}

func (k Kit) deadStart(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := k.New(t)
	if err := c.Start(ctx); err == nil {
		t.Error("it started under a context that had ended")
	}
	for _, n := range c.Nodes() {
		if addr := n.Addr(); addr != "" {
			wantRefused(context.Background(), t, addr)
		}
	}
	must(t, "close", c.Close())
}

func (k Kit) want(ctx context.Context, t *testing.T, n cluster.Node, key, want string) {
	t.Helper()
	got, ok, err := k.Get(ctx, n.Addr(), key)
	must(t, "get", err)
	if ok != (want != "") || got != want {
		t.Errorf("node %s: %s is %q (there: %v), want %q", n.Name(), key, got, ok, want)
	}
}

func (k Kit) wantAnswer(ctx context.Context, t *testing.T, n cluster.Node) {
	t.Helper()
	if _, _, err := k.Get(ctx, n.Addr(), "any"); err != nil {
		t.Errorf("node %s doesn't answer: %v", n.Name(), err)
	}
}

func power[P any](t *testing.T, n cluster.Node) P {
	t.Helper()
	p, ok := n.(P)
	if !ok {
		t.Skipf("node %s has no such power: %T", n.Name(), *new(P))
	}
	return p
}

func dial(ctx context.Context, t *testing.T, addr string) net.Conn {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	must(t, "dial", err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

func wantRefused(ctx context.Context, t *testing.T, addr string) {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err == nil {
		conn.Close()
		t.Errorf("%s accepts connections, want them refused", addr)
	}
}

func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
