package clustertest

import (
	"context"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/cluster/proxy"
	"github.com/locktest/locktest/internal/proc"
)

// Limit is how long the functions here wait for what they poll.
const Limit = 60 * time.Second

// Spawner returns one that is closed, and was empty, when the test ends.
func Spawner(t testing.TB) *proc.Spawner {
	t.Helper()
	s, err := proc.NewSpawner(proc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the spawner: %v", err)
		}
	})
	return s
}

// Up starts o's nodes, the links among them, and those of clients to them, until the test ends. What o leaves open is
// filled in: a Spawner, a folder for logs, and this program where the service is a part of it.
func Up(t testing.TB, o process.Options, clients ...string) (*process.Cluster, *proxy.Network) {
	t.Helper()
	return UpLinked(t, o, proxy.Options{Clients: clients})
}

// UpLinked is Up with options of the links; it knows their nodes itself.
func UpLinked(t testing.TB, o process.Options, links proxy.Options) (*process.Cluster, *proxy.Network) {
	t.Helper()
	if o.Spawner == nil {
		o.Spawner = Spawner(t)
	}
	if o.LogDir == "" {
		o.LogDir = t.TempDir()
	}
	var err error
	if o.Service.Child != "" && o.Self == "" {
		if o.Self, err = os.Executable(); err != nil {
			t.Fatal(err)
		}
	}
	c, err := process.New(o)
	if err != nil {
		t.Fatalf("%v; make deps installs it", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	n, err := cluster.Up(t.Context(), c, func(nodes []cluster.Node, p *cluster.Peering) (cluster.Network, error) {
		links.Nodes, links.Peering, links.Rand = nodes, p, rand.New(rand.NewPCG(1, 1))
		return proxy.New(links)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Errorf("close the links: %v", err)
		}
	})
	return c, n.(*proxy.Network)
}

// Eventually polls until what holds.
func Eventually(t testing.TB, what string, holds func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Limit)
	defer cancel()
	for !holds(ctx) {
		if ctx.Err() != nil {
			t.Fatalf("not within %v: %s", Limit, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Leaders waits until those, and nobody else, lead.
func Leaders(t testing.TB, c cluster.Leader, want ...string) {
	t.Helper()
	var got []string
	var err error
	defer func() {
		if t.Failed() {
			t.Logf("the leaders are %v (%v)", got, err)
		}
	}()
	Eventually(t, "the leaders are those expected", func(ctx context.Context) bool {
		got, err = c.Leaders(ctx)
		return err == nil && cmp.Equal(got, want)
	})
}

// Leader waits until exactly one node leads that isn't but.
func Leader(t testing.TB, c cluster.Leader, but string) string {
	t.Helper()
	var names []string
	Eventually(t, "one node leads, other than "+but, func(ctx context.Context) bool {
		var err error
		names, err = c.Leaders(ctx)
		names = slices.DeleteFunc(names, func(n string) bool { return n == but })
		return err == nil && len(names) == 1
	})
	return names[0]
}

// Node returns c's node of that name.
func Node(c cluster.Cluster, name string) cluster.Node {
	i := slices.IndexFunc(c.Nodes(), func(n cluster.Node) bool { return n.Name() == name })
	return c.Nodes()[i]
}

// Formed waits until c's service finds its nodes to be one cluster.
func Formed(t testing.TB, c cluster.Cluster, s cluster.Service) {
	t.Helper()
	var err error
	defer func() {
		if t.Failed() {
			t.Logf("not one cluster: %v", err)
		}
	}()
	Eventually(t, "the nodes are one cluster", func(ctx context.Context) bool {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		addrs := map[string]string{}
		for _, n := range c.Nodes() {
			addrs[n.Name()] = n.Addr()
		}
		err = s.Formed(ctx, addrs)
		return err == nil
	})
}

// NoneDirect fails t where a connection between nodes, to any of addrs, bypasses the links. One that was just made or
// ended may stand in one of the system's tables alone: a link that is bypassed stays so.
func NoneDirect(t testing.TB, when string, addrs ...string) {
	t.Helper()
	var direct []string
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		links, found, err := Connections(addrs...)
		if err != nil {
			t.Fatal(err)
		}
		if direct = found; links > 0 && len(found) == 0 {
			return
		}
	}
	t.Errorf("%s: connections that bypass the links: %v (with none at all there is nothing to tell)", when, direct)
}

// Serve accepts connections until the test ends, each for one call of handle, and returns the address.
func Serve(t testing.TB, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				handle(c)
			}()
		}
	}()
	return l.Addr().String()
}
