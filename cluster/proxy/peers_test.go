package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/proxy"
	"github.com/locktest/locktest/internal/ports"
)

// ported is a server with a second port, which another server has.
type ported struct {
	*server
	ports map[string]string
}

func (p ported) PortAddr(name string) string { return p.ports[name] }

// meshed are two nodes and the servers behind their peer ports.
func meshed(t *testing.T, p *cluster.Peering) (n *proxy.Network, peers []*server) {
	t.Helper()
	var nodes []cluster.Node
	for i := range 2 {
		name := fmt.Sprintf("n%d", i+1)
		peer := newServer(t, name)
		peers = append(peers, peer)
		nodes = append(nodes, ported{newServer(t, name), map[string]string{"peer": peer.Addr()}})
	}
	n, err := proxy.New(proxy.Options{Clients: []string{"c1"}, Nodes: nodes, Peering: p, Rand: rand.New(rand.NewPCG(1, 2))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n, peers
}

func dialPeer(t *testing.T, n *proxy.Network, from, to string) *client {
	t.Helper()
	c, err := connect(n.PeerAddr(from, to, "peer"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestPeersHaveALinkEachWay(t *testing.T) {
	n, peers := meshed(t, &cluster.Peering{Ports: []string{"peer"}})
	dialPeer(t, n, "n1", "n2").send(t, "to-2")
	dialPeer(t, n, "n2", "n1").send(t, "to-1")
	eventually(t, "each has what the other sent", func() bool { return peers[0].has("to-1") && peers[1].has("to-2") })
	if got := n.Addr("n1", "n2"); got != "" {
		t.Errorf("clients' address from n1 to n2 is %s, want none", got)
	}
	if got := n.PeerAddr("n1", "n1", "peer"); got != "" {
		t.Errorf("a link from n1 to itself: %s", got)
	}
	if !n.Has(cluster.Link{From: "n2", To: "n1"}) || n.Has(cluster.Link{From: "n1", To: "n1"}) {
		t.Error("the network doesn't know its links between nodes")
	}
}

// A link means what one node sends to the other, whoever dialed.
func TestPeerLinkIsADirectionWhoeverDialed(t *testing.T) {
	n, peers := meshed(t, &cluster.Peering{Ports: []string{"peer"}})
	out, in := dialPeer(t, n, "n1", "n2"), dialPeer(t, n, "n2", "n1")
	for _, c := range []*client{out, in} {
		c.send(t, "before")
		c.wantReply(t, "before")
	}
	set(t, n, cluster.Condition{Mode: cluster.Hold}, cluster.Link{From: "n1", To: "n2"})
	out.send(t, "a") // held on its way
	in.send(t, "b")  // arrives; its reply is held
	eventually(t, "what n2 sends arrives", func() bool { return peers[0].has("b") })
	in.wantSilence(t)
	out.wantSilence(t)
	if peers[1].has("a") {
		t.Error("what n1 sends went through the held link")
	}
	set(t, n, pass, cluster.Link{From: "n1", To: "n2"})
	out.wantReply(t, "a")
	in.wantReply(t, "b")
}

func TestPeersThatRewrite(t *testing.T) {
	n, peers := meshed(t, &cluster.Peering{Ports: []string{"peer"}, Rewrite: []string{"peer"}})
	own := peers[0].Addr() // what n1 calls itself
	want := n.PeerAddr("n2", "n1", "peer")
	if len(own) != len(want) {
		t.Fatalf("addresses %s and %s differ in length", own, want)
	}
	dialPeer(t, n, "n1", "n2").send(t, "hello-"+own+"-"+own+"-"+peers[1].Addr())
	text := "hello-" + want + "-" + want + "-" + peers[1].Addr()
	eventually(t, "n2 reads the address by which it reaches n1, and nothing else changed", func() bool { return peers[1].has(text) })
}

func TestPatienceWaitsForAListener(t *testing.T) {
	alloc, err := ports.New("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	defer alloc.Close()
	port, err := alloc.Take()
	if err != nil {
		t.Fatal(err)
	}
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	nodes := []cluster.Node{ported{newServer(t, "n1"), map[string]string{"peer": addr}}, ported{newServer(t, "n2"), map[string]string{"peer": addr}}}
	n, err := proxy.New(proxy.Options{Nodes: nodes, Peering: &cluster.Peering{Ports: []string{"peer"}, Patience: limit}, Rand: rand.New(rand.NewPCG(1, 2))})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	c := dialPeer(t, n, "n1", "n2")
	c.wantSilence(t)
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.(*net.TCPListener).SetDeadline(time.Now().Add(limit))
	conn, err := l.Accept()
	if err != nil {
		t.Fatalf("the link gave up: %v", err)
	}
	conn.Close()
}

func TestPeersWithNames(t *testing.T) {
	alloc, err := ports.New("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	defer alloc.Close()
	port, err := alloc.Take()
	if err != nil {
		t.Fatal(err)
	}
	var nodes []cluster.Node
	for i := range 2 {
		addr := fmt.Sprintf("127.1.%d.%d:%d", i+1, i+1, port)
		nodes = append(nodes, ported{newServer(t, fmt.Sprintf("n%d", i+1)), map[string]string{"peer": addr}})
	}
	n, err := proxy.New(proxy.Options{Nodes: nodes, Peering: &cluster.Peering{Ports: []string{"peer"}, Names: true}, Rand: rand.New(rand.NewPCG(1, 2))})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for _, tt := range []struct{ from, to, want string }{{"n1", "n2", "127.1.1.2:"}, {"n2", "n1", "127.1.2.1:"}} {
		if got := n.PeerAddr(tt.from, tt.to, "peer"); !strings.HasPrefix(got, tt.want) || !strings.HasSuffix(got, fmt.Sprint(port)) {
			t.Errorf("%s reaches %s at %s, want %s%d", tt.from, tt.to, got, tt.want, port)
		}
	}
}
