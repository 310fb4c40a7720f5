package etcd_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/etcdd"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/cluster/proxy"
	"github.com/locktest/locktest/internal/proc"
	"github.com/locktest/locktest/locks/etcd"
)

const serviceLimit = 60 * time.Second

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == etcd.ChildArg {
		etcdd.Main(os.Args[2:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// up starts members, and the links among them and to c1 and c2.
func up(t *testing.T, nodes int) (*process.Cluster, *proxy.Network) {
	t.Helper()
	s, err := proc.NewSpawner(proc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c, err := process.New(process.Options{Service: etcd.Service(etcdd.Version), Self: self, Nodes: nodes, Spawner: s, LogDir: filepath.Join(t.TempDir(), "logs")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*serviceLimit)
	defer cancel()
	n, err := cluster.Up(ctx, c, func(nodes []cluster.Node, p *cluster.Peering) (cluster.Network, error) {
		return proxy.New(proxy.Options{Clients: []string{"c1", "c2"}, Nodes: nodes, Peering: p, Rand: rand.New(rand.NewPCG(1, 1))})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		n.Close()
	})
	return c, n.(*proxy.Network)
}

// leader waits until exactly one node leads that isn't but.
func leader(t *testing.T, c *process.Cluster, but string) string {
	t.Helper()
	var last []string
	for end := time.Now().Add(serviceLimit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		names, err := c.Leaders(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		names = slices.DeleteFunc(names, func(n string) bool { return n == but })
		if last = names; len(names) == 1 {
			return names[0]
		}
	}
	t.Fatalf("leaders but %q: %v, want one", but, last)
	return ""
}

func node(c *process.Cluster, name string) cluster.Node {
	i := slices.IndexFunc(c.Nodes(), func(n cluster.Node) bool { return n.Name() == name })
	return c.Nodes()[i]
}

// direct are the connections to nodes' ports for peers whose other end is not one of this process. One that was just made or
// ended may be seen in one of the system's tables alone; a link that is bypassed stays so.
func direct(t *testing.T, c *process.Cluster) []string {
	t.Helper()
	var last []string
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if last = directNow(t, c); len(last) == 0 {
			return nil
		}
	}
	return last
}

func directNow(t *testing.T, c *process.Cluster) []string {
	t.Helper()
	f, err := os.Open("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ours := ownSockets(t)
	peers := map[string]string{}
	for _, n := range c.Nodes() {
		peers[n.(cluster.Ported).PortAddr("peer")] = n.Name()
	}
	var out []string
	seen := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		w := strings.Fields(lines.Text())
		if len(w) < 10 || w[3] != "01" {
			continue
		}
		to := peers[endpoint(t, w[2])]
		if to == "" {
			continue
		}
		seen++
		if !ours[w[9]] {
			out = append(out, fmt.Sprintf("%s to %s (%s)", endpoint(t, w[1]), endpoint(t, w[2]), to))
		}
	}
	if seen == 0 {
		t.Error("no connection to a peer port was found: the test would hold for nothing")
	}
	return out
}

func ownSockets(t *testing.T) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, e := range entries {
		link, err := os.Readlink("/proc/self/fd/" + e.Name())
		if inode, ok := strings.CutPrefix(link, "socket:["); err == nil && ok {
			out[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return out
}

// endpoint reads an address as the kernel prints it: the bytes of the host in the machine's order.
func endpoint(t *testing.T, text string) string {
	t.Helper()
	host, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(host)
	if err != nil || len(b) != 4 {
		t.Fatalf("address %q: %v", text, err)
	}
	number, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort(net.IPv4(b[3], b[2], b[1], b[0]).String(), strconv.FormatUint(number, 10))
}

// awaitFollower waits until a member is healthy and somebody else leads.
func awaitFollower(t *testing.T, c *process.Cluster, name string) {
	t.Helper()
	svc := etcd.Service(etcdd.Version)
	var err error
	for end := time.Now().Add(serviceLimit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		addrs := map[string]string{}
		for _, n := range c.Nodes() {
			addrs[n.Name()] = n.Addr()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err = svc.Formed(ctx, addrs)
		cancel()
		if err == nil {
			return
		}
	}
	t.Fatalf("%s is no part of the cluster: %v", name, err)
}

func TestOneMemberKeepsItsData(t *testing.T) {
	c, _ := up(t, 1)
	n := c.Nodes()[0]
	for _, with := range []cluster.Restart{cluster.WithData, cluster.Empty} {
		if err := n.(cluster.Killer).Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := n.(cluster.Killer).Restart(t.Context(), with); err != nil {
			t.Fatal(err)
		}
		if got := leader(t, c, ""); got != "n1" {
			t.Errorf("%s leads", got)
		}
	}
}
