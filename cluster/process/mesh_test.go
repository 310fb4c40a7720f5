//go:build unix

package process_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/cluster/proxy"
)

// mesh is two line servers that may talk to each other, and what each was told at its start.
type mesh struct {
	*process.Cluster
	net  *proxy.Network
	mu   sync.Mutex
	told map[string]cluster.NodeConfig
}

func upMesh(t *testing.T, p *cluster.Peering, change func(*cluster.Service)) (*mesh, error) {
	t.Helper()
	m := &mesh{told: map[string]cluster.NodeConfig{}}
	svc := service(t)
	svc.Peering = p
	command := svc.Command
	svc.Command = func(c cluster.NodeConfig) (argv, env []string) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.told[c.Name] = c
		return command(c)
	}
	if change != nil {
		change(&svc)
	}
	c, err := process.New(process.Options{Service: svc, Nodes: 2, Spawner: clustertest.Spawner(t), LogDir: t.TempDir(), Ready: 5 * time.Second})
	if err != nil {
		return nil, err
	}
	m.Cluster = c
	t.Cleanup(func() { c.Close() })
	n, err := cluster.Up(t.Context(), c, func(nodes []cluster.Node, p *cluster.Peering) (cluster.Network, error) {
		return proxy.New(proxy.Options{Clients: []string{"c1"}, Nodes: nodes, Peering: p, Rand: rand.New(rand.NewPCG(1, 2))})
	})
	if err != nil {
		return nil, err
	}
	m.net = n.(*proxy.Network)
	t.Cleanup(func() { n.Close() })
	return m, nil
}

func TestPeersAreReachedOverLinks(t *testing.T) {
	m, err := upMesh(t, &cluster.Peering{Ports: []string{cluster.ClientPort}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := m.told["n1"]
	if c.Nodes != 2 || len(c.Peers) != 2 || c.Ports[cluster.ClientPort] != c.Port {
		t.Errorf("n1 was told %+v", c)
	}
	if got, want := c.Peer("n1", cluster.ClientPort), m.Nodes()[0].Addr(); got != want {
		t.Errorf("n1 is %s for itself, and listens at %s", got, want)
	}
	over := c.Peer("n2", cluster.ClientPort)
	if over == m.Nodes()[1].Addr() || over != m.net.PeerAddr("n1", "n2", cluster.ClientPort) {
		t.Errorf("n1 reaches n2 at %s, which is no link", over)
	}
	if err := clustertest.PutLine(t.Context(), over, "k", "v"); err != nil {
		t.Fatal(err)
	}
	if err := m.net.Set(t.Context(), cluster.Condition{Mode: cluster.Refuse}, cluster.Link{From: "n1", To: "n2"}); err != nil {
		t.Fatal(err)
	}
	if err := clustertest.PutLine(t.Context(), over, "k", "w"); err == nil {
		t.Error("a refused link between nodes works")
	}
	if got, ok, err := clustertest.GetLine(t.Context(), m.net.Addr("c1", "n2"), "k"); err != nil || !ok || got != "v" {
		t.Errorf("the client, whose link is well, reads %q, %v, %v", got, ok, err)
	}
	if !m.Nodes()[0].(cluster.Peered).HasPeers() {
		t.Error("n1 doesn't know that it has peers")
	}
}

func TestNamesOfPeers(t *testing.T) {
	if runtime.GOOS != "linux" {
		_, err := upMesh(t, &cluster.Peering{Ports: []string{cluster.ClientPort}, Names: true}, nil)
		wantError(t, err, cluster.CodeUnhostable, "host names")
		return
	}
	m, err := upMesh(t, &cluster.Peering{Ports: []string{cluster.ClientPort}, Names: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c1, c2 := m.told["n1"], m.told["n2"]
	if c1.Host != "127.1.1.1" || c2.Host != "127.1.2.2" || c1.Port != c2.Port {
		t.Errorf("nodes listen at %s:%d and %s:%d", c1.Host, c1.Port, c2.Host, c2.Port)
	}
	for _, of := range []string{"n1", "n2"} {
		if a, b := c1.Peer(of, cluster.ClientPort), c2.Peer(of, cluster.ClientPort); a != b || !strings.HasPrefix(a, of+".locktest:") {
			t.Errorf("%s is %s for n1 and %s for n2", of, a, b)
		}
	}
	hosts, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(m.Nodes()[0].(cluster.Pidded).Pid()), "root/etc/hosts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"127.1.1.1 n1.locktest\n", "127.1.1.2 n2.locktest\n"} {
		if !strings.Contains(string(hosts), line) {
			t.Errorf("n1 sees these hosts, without %q:\n%s", line, hosts)
		}
	}
	if own, err := os.ReadFile("/etc/hosts"); err == nil && strings.Contains(string(own), "n1.locktest") {
		t.Error("this process sees them too")
	}
}

func TestNodesThatDoNotFindTogetherAreTold(t *testing.T) {
	_, err := upMesh(t, &cluster.Peering{Ports: []string{cluster.ClientPort}}, func(s *cluster.Service) {
		s.Formed = func(_ context.Context, addrs map[string]string) error {
			if len(addrs) != 2 {
				return errors.New("somebody is missing")
			}
			return errors.New("no quorum yet")
		}
	})
	e := wantError(t, err, cluster.CodeServerDied, "did not become one cluster in 5s")
	if text := strings.Join(e.Details, "\n"); !strings.Contains(text, "at last: no quorum yet") {
		t.Errorf("details:\n%s", text)
	}
}

func TestPeersWithoutLinksAreRefused(t *testing.T) {
	svc := service(t)
	svc.Peering = &cluster.Peering{Ports: []string{cluster.ClientPort}}
	c, err := process.New(process.Options{Service: svc, Nodes: 2, Spawner: clustertest.Spawner(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "nobody has made their links") {
		t.Errorf("Start() = %v", err)
	}
}

func TestRolesAndClocks(t *testing.T) {
	noon := time.Date(2020, 1, 1, 12, 0, 0, 0, time.UTC)
	promoted := ""
	m, err := upMesh(t, nil, func(s *cluster.Service) {
		s.Leaders = func(_ context.Context, addrs map[string]string) ([]string, error) {
			var out []string
			for name := range addrs {
				out = append(out, name)
			}
			return out, nil
		}
		s.Promote = func(_ context.Context, _ map[string]string, name string) error { promoted = name; return nil }
		s.Time = func(context.Context, string) (time.Time, error) { return noon, nil }
	})
	if err != nil {
		t.Fatal(err)
	}
	n1, n2 := m.Nodes()[0], m.Nodes()[1]
	if err := n1.(cluster.Killer).Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := n1.(cluster.Leader).Leaders(t.Context()); err != nil || len(got) != 1 || got[0] != "n2" {
		t.Errorf("leaders %v, %v; the dead are not to be asked", got, err)
	}
	if err := n2.(cluster.Promoter).Promote(t.Context()); err != nil || promoted != "n2" {
		t.Errorf("promoted %q, %v", promoted, err)
	}
	if got, err := n2.(cluster.Clocked).Time(t.Context()); err != nil || !got.Equal(noon) {
		t.Errorf("time %v, %v", got, err)
	}
	if _, err := n1.(cluster.Clocked).Time(t.Context()); err == nil {
		t.Error("a dead node tells its time")
	}

	plain := newCluster(t, process.Options{Nodes: 1}).Nodes()[0]
	for what, err := range map[string]error{
		"leaders": plain.(cluster.Leader).HasLeaders(), "promotion": plain.(cluster.Promoter).CanPromote(), "time": plain.(cluster.Clocked).HasTime(),
	} {
		if err == nil {
			t.Errorf("%s of a service that has none", what)
		}
	}
}
