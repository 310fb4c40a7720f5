// Package proxy is a cluster.Network of TCP proxies, one per client and node, and one per ordered pair of nodes that talk to
// each other and port, with toxiproxy as a library. What the bytes mean is known to internal/wire alone.
//
// Toxiproxy carries the bytes. Its own toxics can't show a partition (its timeout loses bytes and passes the end of a
// connection on; adding or removing a toxic before a shut one hangs), so that each direction has one toxic only, a gate of
// ours that stays for good and changes its condition. Listening and dialing are ours as well, so that a refused connection is
// refused and a dead node never answers.
//
// What a proxy can't show: both ends see a healthy, silent TCP peer through a held link. Keep-alives and retransmission
// timeouts never fire, and a new connection over a held link is accepted, and then silent, where a real one would time out.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/rs/zerolog"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/ports"
)

const host = "127.0.0.1"

// Options of a Network.
type Options struct {
	Clients []string
	Nodes   []cluster.Node   // their addresses are asked for at each connection; with Peering they are known already
	Others  []cluster.Node   // nodes that clients reach too, and that never talk to Nodes or each other
	Peering *cluster.Peering // between the nodes; nil: they don't talk to each other
	// Messages has what clients and nodes say told apart, message by message, for those rules that need it. Bytes pass as
	// they come otherwise.
	Messages bool
	Rand     *rand.Rand   // for jitter; it belongs to the Network from now on
	Log      *slog.Logger // nil: nothing is logged
}

// Network implements cluster.PeerNetwork. Its methods may be called from several goroutines.
type Network struct {
	log   *slog.Logger
	ports *ports.Allocator
	pairs map[way]*pair
	order []way

	mu     sync.Mutex // one change at a time
	closed bool
}

// New listens for every client and node.
func New(o Options) (*Network, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	// Toxiproxy makes toxics by name, from a table of its own for the whole process. Registering the type again changes
	// nothing; what a gate obeys is given to it below.
	toxics.Register(gateType, new(gate))
	alloc, err := ports.New(host)
	if err != nil {
		return nil, fmt.Errorf("set up the network: %w", err)
	}
	n := &Network{log: o.Log, ports: alloc, pairs: map[way]*pair{}}
	m := &maker{server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()), chance: &chance{rand: o.Rand}}
	err = n.addClients(o, m)
	if err == nil && o.Peering != nil {
		err = n.addPeers(o, m)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("set up the network: %w", err), n.Close())
	}
	n.sortWays()
	return n, nil
}

// addClients listens for every client and node.
func (n *Network) addClients(o Options, m *maker) error {
	for _, client := range o.Clients {
		for _, node := range slices.Concat(o.Nodes, o.Others) {
			p, err := m.pair(client+"-"+node.Name(), node.Addr)
			if err == nil {
				p.client, p.node = client, node.Name()
				if spoken, ok := node.(cluster.Spoken); ok && o.Messages {
					p.protocol = spoken.Protocol()
				}
				n.pairs[way{client, node.Name(), cluster.ClientPort}] = p
				err = p.open(n.ports)
			}
			if err != nil {
				return fmt.Errorf("link from %s to %s: %w", client, node.Name(), err)
			}
		}
	}
	return nil
}

// Addr is where a client dials a node, and empty for any other pair.
func (n *Network) Addr(from, to string) string {
	if p := n.pairs[way{from, to, cluster.ClientPort}]; p != nil && !p.peers {
		return p.addr
	}
	return ""
}

// Has says whether there is such a link.
func (n *Network) Has(l cluster.Link) bool { return len(n.lanes(l)) > 0 }

// Set puts every link into c. Where one of them doesn't exist, none is changed. What was received before Set returns may still
// arrive; what comes after meets c.
func (n *Network) Set(ctx context.Context, c cluster.Condition, links ...cluster.Link) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return errors.New("set links: the network is closed")
	}
	for _, l := range links {
		if !n.Has(l) {
			return fmt.Errorf("set links: there is none from %s to %s", l.From, l.To)
		}
	}
	var errs []error
	for _, l := range links {
		for _, a := range n.lanes(l) {
			if err := a.pair.change(ctx, func() { a.valve.set(c) }); err != nil {
				errs = append(errs, fmt.Errorf("set link from %s to %s: %w", l.From, l.To, err))
			}
		}
	}
	return errors.Join(errs...)
}

// NodeDown makes new connections to a node be refused, as those to a dead process are. Without it they would be accepted
// first. A client that is cut off from the node doesn't learn of it before its link heals. Other nodes' connections are
// accepted, and reset where the node can't be reached: it needs its peers before it answers.
func (n *Network) NodeDown(ctx context.Context, node string) error { return n.setDown(ctx, node, true) }

// NodeUp ends NodeDown; call it once the node answers.
func (n *Network) NodeUp(ctx context.Context, node string) error { return n.setDown(ctx, node, false) }

// Close ends every connection and stops listening. It may be called twice.
func (n *Network) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil
	}
	n.closed = true
	for _, p := range n.pairs {
		p.close()
	}
	return n.ports.Close()
}

func (n *Network) setDown(ctx context.Context, node string, down bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil
	}
	var errs []error
	for w, p := range n.pairs {
		if w.to == node && !p.peers {
			errs = append(errs, p.change(ctx, func() { p.nodeDown = down }))
		}
	}
	return errors.Join(errs...)
}

// chance is a source of jitter for many connections.
type chance struct {
	mu   sync.Mutex
	rand *rand.Rand
}

// around returns a duration drawn evenly from d-spread to d+spread, and never less than 0.
func (c *chance) around(d, spread time.Duration) time.Duration {
	if spread <= 0 {
		return d
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(0, d-spread+time.Duration(c.rand.Int64N(int64(2*spread)+1)))
}

func address(port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
