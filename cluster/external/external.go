// Package external is a cluster that stands already and belongs to somebody else: nothing is started, stopped or harmed, only asked
// whether it can be reached. It knows no server.
package external

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/access"
)

// Options of a Cluster.
type Options struct {
	Service   cluster.Service
	Endpoints []string // HOST:PORT, in the order of the nodes
	Access    access.Access
}

// Cluster implements cluster.Cluster. Its nodes have no powers.
type Cluster struct {
	o     Options
	nodes []cluster.Node
}

// New checks that there are endpoints.
func New(o Options) (*Cluster, error) {
	if len(o.Endpoints) == 0 {
		return nil, &cluster.Error{
			Code:    cluster.CodeUnreachable,
			Message: "no endpoint of the servers is named",
			Fix:     []string{"cluster.endpoints: [HOST:PORT, ...]"},
		}
	}
	c := &Cluster{o: o}
	for i, addr := range o.Endpoints {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return nil, fmt.Errorf("endpoint %d: %w", i+1, err)
		}
		c.nodes = append(c.nodes, &node{cluster: c, name: fmt.Sprintf("n%d", i+1), addr: addr})
	}
	return c, nil
}

// reachLimit is how long a server may take to accept a connection.
const reachLimit = 5 * time.Second

// Start connects to every node once. Whether it lets clients in is seen by these.
func (c *Cluster) Start(ctx context.Context) error {
	for _, n := range c.nodes {
		if err := c.reach(ctx, n.Addr()); err != nil {
			return c.unreachable(n, err)
		}
	}
	return nil
}

// reach connects, and is through with TLS where the server speaks it from the start.
func (c *Cluster) reach(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, reachLimit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	host, _, _ := net.SplitHostPort(addr) // New has looked at it
	config := c.o.Access.TLS(host)
	if config == nil || c.o.Service.LateTLS {
		return nil
	}
	return tls.Client(conn, config).HandshakeContext(ctx)
}

func (c *Cluster) unreachable(n cluster.Node, err error) error {
	e := &cluster.Error{
		Code:    cluster.CodeUnreachable,
		Message: fmt.Sprintf("node %s at %s can't be reached", n.Name(), n.Addr()),
		Fix:     []string{"cluster.endpoints names addresses that this machine reaches"},
		Err:     err,
	}
	var wrong *tls.CertificateVerificationError
	if errors.As(err, &wrong) {
		e.Fix = []string{"tls-ca names the certificates of who signed the server's", "endpoints name servers as their certificates do"}
	}
	return e
}

// Nodes returns n1, n2 and so on.
func (c *Cluster) Nodes() []cluster.Node { return c.nodes }

// Close leaves everything as it is.
func (c *Cluster) Close() error { return nil }

// Describe says what runs: "redis, external: 10.0.0.1:6379, 10.0.0.2:6379, by TLS".
func (c *Cluster) Describe() string {
	text := fmt.Sprintf("%s, external: %s", c.o.Service.Name, strings.Join(c.o.Endpoints, ", "))
	if c.o.Access.Encrypted() {
		text += ", by TLS"
	}
	return text
}

// node is a server of which nothing is known but where it is.
type node struct {
	cluster *Cluster
	name    string
	addr    string
}

func (n *node) Name() string { return n.name }
func (n *node) Addr() string { return n.addr }

// Kind says how it is hosted.
func (n *node) Kind() string { return "external" }

// Protocol is the service's, where links can read it.
func (n *node) Protocol() string {
	if n.cluster.o.Access.Encrypted() {
		return ""
	}
	return n.cluster.o.Service.Protocol
}
