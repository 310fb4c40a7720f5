package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/locktest/locktest/cluster"
)

// Peering is the service's, and nil for a single node, which has nobody to talk to.
func (c *Cluster) Peering() *cluster.Peering {
	if len(c.nodes) < 2 {
		return nil
	}
	return c.o.Service.Peering
}

// Reserve makes folders and takes ports for every node. Ports of peers are part of what their servers are told, so that
// none can change later.
func (c *Cluster) Reserve(ctx context.Context) error {
	if err := c.prepare(ctx); err != nil {
		return err
	}
	shared := map[string]int{} // the numbers that all nodes have where names stand for addresses
	for _, n := range c.nodes {
		for _, name := range c.portNames() {
			port, err := c.reservePort(n, name, shared)
			if err != nil {
				return err
			}
			n.setPort(name, port)
		}
	}
	return nil
}

// Join tells where the links between nodes are.
func (c *Cluster) Join(n cluster.PeerNetwork) { c.peers = n }

func (c *Cluster) names() bool { p := c.Peering(); return p != nil && p.Names }

func (c *Cluster) portNames() []string {
	return append([]string{cluster.ClientPort}, c.o.Service.Ports...)
}

func (c *Cluster) reservePort(n *node, name string, shared map[string]int) (int, error) {
	if name == cluster.ClientPort && c.basePort != 0 {
		if c.names() {
			return c.basePort, nil
		}
		return c.basePort + n.index, nil
	}
	if port := shared[name]; port != 0 {
		return port, nil
	}
	port, err := c.ports.Take()
	if err == nil && c.names() {
		shared[name] = port
	}
	return port, err
}

// hostOf is the address at which a node listens: one for all, or one of its own where all have the same ports.
func (c *Cluster) hostOf(index int) string {
	if !c.names() {
		return host
	}
	return fmt.Sprintf("127.1.%d.%d", index+1, index+1)
}

// peersOf are all nodes as n reaches them; nil where nodes don't talk, or nobody has joined them.
func (c *Cluster) peersOf(n *node) []cluster.Peer {
	p := c.Peering()
	if p == nil || c.peers == nil {
		return nil
	}
	out := make([]cluster.Peer, len(c.nodes))
	for i, other := range c.nodes {
		out[i] = cluster.Peer{Name: other.name, Addrs: map[string]string{}}
		for _, port := range p.Ports {
			out[i].Addrs[port] = c.peerAddr(p, n, other, port)
		}
	}
	return out
}

func (c *Cluster) peerAddr(p *cluster.Peering, n, other *node, port string) string {
	switch {
	case p.Names:
		return net.JoinHostPort(cluster.HostName(other.name), strconv.Itoa(other.ports[port]))
	case n == other:
		return n.PortAddr(port)
	}
	return c.peers.PeerAddr(n.name, other.name, port)
}

// writeHosts makes the table of names that n alone sees: the system's own, and its peers by the links to them.
func (c *Cluster) writeHosts(n *node) error {
	own, err := os.ReadFile("/etc/hosts")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var b strings.Builder
	b.WriteString(strings.TrimRight(string(own), "\n") + "\n")
	for _, other := range c.nodes {
		ip := n.host
		if other != n {
			if ip, _, err = net.SplitHostPort(c.peers.PeerAddr(n.name, other.name, c.Peering().Ports[0])); err != nil {
				return fmt.Errorf("link from %s to %s: %w", n.name, other.name, err)
			}
		}
		fmt.Fprintf(&b, "%s %s\n", ip, cluster.HostName(other.name))
	}
	return os.WriteFile(n.hostsFile(), []byte(b.String()), 0o644)
}

// HasPeers says whether it talks to other nodes.
func (n *node) HasPeers() bool { return n.cluster.Peering() != nil }

func (n *node) hostsFile() string { return filepath.Join(filepath.Dir(n.dir), n.name+".hosts") }

// running are the addresses for clients of the nodes that run, but for one.
func (c *Cluster) running(but *node) map[string]string {
	out := map[string]string{}
	for _, n := range c.nodes {
		if n != but && n.Pid() != 0 {
			out[n.name] = n.Addr()
		}
	}
	return out
}
