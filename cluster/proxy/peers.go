package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/locktest/locktest/cluster"
)

// way is who dials whom at which port.
type way struct{ from, to, port string }

// PeerAddr is where one node dials another at a port, and empty where no link is.
func (n *Network) PeerAddr(from, to, port string) string {
	if p := n.pairs[way{from, to, port}]; p != nil {
		return p.addr
	}
	return ""
}

// addPeers listens for every node and every other one, at each of the ports.
func (n *Network) addPeers(o Options, maker *maker) error {
	for i, from := range o.Nodes {
		for j, to := range o.Nodes {
			if i == j {
				continue
			}
			for _, port := range o.Peering.Ports {
				p, err := n.peerPair(o.Peering, maker, from, to, port, [2]int{i, j})
				if err != nil {
					return fmt.Errorf("link from %s to %s: %w", from.Name(), to.Name(), err)
				}
				n.pairs[way{from.Name(), to.Name(), port}] = p
			}
		}
	}
	n.addRewriting(o)
	return nil
}

func (n *Network) peerPair(pe *cluster.Peering, maker *maker, from, to cluster.Node, port string, at [2]int) (*pair, error) {
	ported, ok := to.(cluster.Ported)
	if !ok || ported.PortAddr(port) == "" {
		return nil, fmt.Errorf("node %s has no port %q", to.Name(), port)
	}
	p, err := maker.pair(from.Name()+"-"+to.Name()+"-"+port, func() string { return ported.PortAddr(port) })
	if err != nil {
		return nil, err
	}
	if pe.Patient == nil || slices.Contains(pe.Patient, port) {
		p.patience = pe.Patience
	}
	p.peers = true
	if !pe.Names {
		return p, p.open(n.ports)
	}
	_, number, err := net.SplitHostPort(ported.PortAddr(port))
	if err != nil {
		return nil, err
	}
	p.addr = net.JoinHostPort(fmt.Sprintf("127.1.%d.%d", at[0]+1, at[1]+1), number)
	return p, p.listen(context.Background())
}

// addRewriting has each link replace its sender's real address by the one at which its receiver reaches the sender. Nothing
// has passed a link before: nodes start later.
func (n *Network) addRewriting(o Options) {
	for _, from := range o.Nodes {
		for _, to := range o.Nodes {
			for _, port := range o.Peering.Rewrite {
				p, back := n.pairs[way{from.Name(), to.Name(), port}], n.pairs[way{to.Name(), from.Name(), port}]
				if p == nil || back == nil {
					continue
				}
				p.linking.Lock() // somebody may have dialed already, by chance or by scanning ports
				p.rewriteUp = rewrite{from: []byte(back.upstream()), to: []byte(back.addr)}
				p.rewriteDown = rewrite{from: []byte(p.upstream()), to: []byte(p.addr)}
				p.linking.Unlock()
			}
		}
	}
}

// rewrite replaces bytes by as many others. The zero rewrite changes nothing.
type rewrite struct{ from, to []byte }

func (r rewrite) apply(b []byte) {
	if len(r.from) == 0 || len(r.from) != len(r.to) {
		return
	}
	for at := 0; ; {
		i := bytes.Index(b[at:], r.from)
		if i < 0 {
			return
		}
		at += i + copy(b[at+i:], r.to)
	}
}

// redial is the pause between two tries to reach a node that doesn't listen yet.
const redial = 20 * time.Millisecond

// dialPatiently dials until the node listens or patience ends. A server that peers dial before it listens would be refused,
// and they would try again; behind a link they are accepted first, so that the link has to do the trying.
func dialPatiently(ctx context.Context, addr string, patience time.Duration) (net.Conn, error) {
	var d net.Dialer
	end := time.Now().Add(patience)
	for {
		conn, err := d.DialContext(ctx, "tcp", addr)
		if err == nil || !errors.Is(err, syscall.ECONNREFUSED) || time.Now().Add(redial).After(end) {
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(redial):
		}
	}
}

// lane is one direction of a pair.
type lane struct {
	pair  *pair
	valve *valve
}

// lanes are all directions that carry what one sends to the other, whoever dialed, in a fixed order.
func (n *Network) lanes(l cluster.Link) []lane {
	var out []lane
	for _, w := range n.order {
		switch p := n.pairs[w]; {
		case w.from == l.From && w.to == l.To:
			out = append(out, lane{p, p.up})
		case w.from == l.To && w.to == l.From:
			out = append(out, lane{p, p.down})
		}
	}
	return out
}

func (n *Network) sortWays() {
	for w := range n.pairs {
		n.order = append(n.order, w)
	}
	slices.SortFunc(n.order, func(a, b way) int {
		return slices.Compare([]string{a.from, a.to, a.port}, []string{b.from, b.to, b.port})
	})
}
