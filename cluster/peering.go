package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ClientPort is the name of the port that clients use; NodeConfig.Port is its number.
const ClientPort = "client"

// Peering is how the nodes of a service reach each other: over a link of its own for each ordered pair of nodes and each
// port, so that no connection between two nodes bypasses the Network. nil: they don't talk to each other.
type Peering struct {
	// Ports are the names of the ports at which nodes reach each other: ClientPort, or others of the node's own.
	Ports []string
	// Names makes every node reachable under the same name and port from everywhere, as nN.locktest:PORT, for servers that
	// tell their own addresses to others. Each process then sees an /etc/hosts of its own (Linux), where a name is the
	// address of the link from that node. All nodes have the same port numbers, each at a loopback address of its own.
	Names bool
	// Rewrite lists ports, for servers that tell their own address in a protocol and can't be given another: in what a node
	// sends over such a link, its own real address becomes the one at which the receiver reaches it. Both are of the
	// same length. An address has to be whole in what one write sent, as it is in a greeting.
	Rewrite []string
	// Patience is how long a link goes on dialing a node that doesn't listen yet; 0: it gives up at once.
	Patience time.Duration
	// Patient lists the ports with Patience; nil: all.
	Patient []string
}

// HostName is how a node is called where Peering.Names is set.
func HostName(node string) string { return node + ".locktest" }

// Peer is a node as another one, or itself, reaches it.
type Peer struct {
	Name  string
	Addrs map[string]string // by the ports of Peering: HOST:PORT; of the node itself the address where it listens
}

// Peer returns the address at which this node reaches another, or itself, at a port of Peering; empty where there is none.
func (c NodeConfig) Peer(name, port string) string {
	for _, p := range c.Peers {
		if p.Name == name {
			return p.Addrs[port]
		}
	}
	return ""
}

// PeerNetwork is a Network that links nodes to each other too. Set takes a Link between two nodes as any other: it means
// all ports, and what one sends to the other whoever dialed.
type PeerNetwork interface {
	Network
	// PeerAddr is where node from dials to reach node to at a port; it never changes in a run. Empty where there is no link.
	PeerAddr(from, to, port string) string
}

// Meshed is a Cluster whose nodes may talk to each other.
type Meshed interface {
	Cluster
	Peering() *Peering // nil: they don't
	// Reserve fixes the addresses of all nodes before anything is started.
	Reserve(ctx context.Context) error
	// Join tells the links between nodes. It is called once, after Reserve and before Start.
	Join(n PeerNetwork)
}

// Ported is a Node with more than one port.
type Ported interface {
	// PortAddr is where it really listens at a named port; empty where it doesn't.
	PortAddr(port string) string
}

// Peered is a Node that may talk to others; it says whether it does, before the start too.
type Peered interface{ HasPeers() bool }

// MakeNetwork makes the Network of a cluster: of its nodes, and between them as the Peering says, which is nil where they don't talk.
type MakeNetwork func(nodes []Node, p *Peering) (Network, error)

// Up starts a cluster and its links: the links first where nodes need them to reach each other. On an error it has closed what
// it started.
func Up(ctx context.Context, c Cluster, links MakeNetwork) (Network, error) {
	m, ok := c.(Meshed)
	if !ok || m.Peering() == nil {
		return upApart(ctx, c, links)
	}
	if err := m.Reserve(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start cluster: %w", err), c.Close())
	}
	n, err := links(c.Nodes(), m.Peering())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start links: %w", err), c.Close())
	}
	peers, ok := n.(PeerNetwork)
	if !ok {
		return nil, errors.Join(errors.New("start links: this network links no nodes to each other"), n.Close(), c.Close())
	}
	m.Join(peers)
	if err := c.Start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start cluster: %w", err), n.Close())
	}
	return n, nil
}

func upApart(ctx context.Context, c Cluster, links MakeNetwork) (Network, error) {
	if err := c.Start(ctx); err != nil {
		return nil, fmt.Errorf("start cluster: %w", err)
	}
	n, err := links(c.Nodes(), nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start links: %w", err), c.Close())
	}
	return n, nil
}
