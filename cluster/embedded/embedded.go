// Package embedded is a cluster of servers in this process, each listening on a loopback port. It knows no server: a
// cluster.Service says how one is embedded. What is killed and paused here is no process, and reports say so.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/ports"
	"github.com/locktest/locktest/internal/proc"
)

const host = "127.0.0.1"

// Options of a Cluster.
type Options struct {
	Service cluster.Service
	Nodes   int               // 0: the service's default
	Server  map[string]string // the server's options
}

// Cluster implements cluster.Cluster. Its nodes are Killers and Pausers.
type Cluster struct {
	o     Options
	nodes []*node

	mu      sync.Mutex
	ports   *ports.Allocator
	dir     string
	version string
	started bool
}

// New checks the options; nothing is started.
func New(o Options) (*Cluster, error) {
	if o.Service.Embed == nil {
		return nil, &cluster.Error{
			Code:    cluster.CodeUnhostable,
			Message: fmt.Sprintf("%s can't run inside locktest", o.Service.Name),
			Fix:     []string{"choose another kind of cluster: --on process"},
		}
	}
	if err := o.Service.CheckOptions(o.Server); err != nil {
		return nil, err
	}
	if o.Nodes == 0 {
		o.Nodes = max(1, o.Service.Nodes)
	}
	c := &Cluster{o: o}
	for i := range o.Nodes {
		c.nodes = append(c.nodes, &node{cluster: c, name: fmt.Sprintf("n%d", i+1), index: i})
	}
	return c, nil
}

// Start starts the nodes one after the other.
func (c *Cluster) Start(ctx context.Context) error {
	err := c.prepare(ctx)
	for i := 0; err == nil && i < len(c.nodes); i++ {
		err = c.nodes[i].start(ctx)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("start cluster: %w", err), c.Close())
	}
	return nil
}

// Nodes returns n1, n2 and so on.
func (c *Cluster) Nodes() []cluster.Node {
	out := make([]cluster.Node, len(c.nodes))
	for i, n := range c.nodes {
		out[i] = n
	}
	return out
}

// Close stops every node.
func (c *Cluster) Close() error {
	var errs []error
	for _, n := range c.nodes {
		errs = append(errs, n.close())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir != "" {
		errs = append(errs, os.RemoveAll(c.dir))
		c.dir = ""
	}
	if c.ports != nil {
		errs = append(errs, c.ports.Close())
	}
	return errors.Join(errs...)
}

// Describe says what runs: "miniredis v2.40.0, 5 in this process". The version is known once the cluster was started.
func (c *Cluster) Describe() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	what := c.version
	if what == "" {
		what = c.o.Service.Name + " (embedded)"
	}
	return fmt.Sprintf("%s, %d in this process", what, len(c.nodes))
}

func (c *Cluster) prepare(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started {
		return errors.New("it was started before")
	}
	c.started = true
	var err error
	if c.version, err = c.o.Service.Version(ctx, ""); err != nil {
		return err
	}
	if c.ports, err = ports.New(host); err != nil {
		return err
	}
	c.dir, err = os.MkdirTemp("", proc.TempName())
	return err
}

// node is one server. Its methods may be called from several goroutines; they wait for each other.
type node struct {
	cluster *Cluster
	name    string
	index   int

	mu     sync.Mutex
	addr   string
	server cluster.Embedded // nil before the start
	down   bool
}

func (n *node) Name() string { return n.name }

// Addr is empty before the cluster was started.
func (n *node) Addr() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.addr
}

// Kill stops the server and cuts its connections; what was sent and not yet carried out is lost. One that is down stays so.
func (n *node) Kill(context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server == nil || n.down {
		return nil
	}
	if err := n.server.Stop(); err != nil {
		return fmt.Errorf("kill node %s: %w", n.name, err)
	}
	n.down = true
	return nil
}

// Restart starts a killed server again, at the same address.
func (n *node) Restart(ctx context.Context, with cluster.Restart) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server == nil || !n.down {
		return fmt.Errorf("restart node %s: it isn't down", n.name)
	}
	if err := n.revive(ctx, with); err != nil {
		return fmt.Errorf("restart node %s: %w", n.name, err)
	}
	n.down = false
	return nil
}

// CanRestart says that an embedded server has all of its data or none.
func (n *node) CanRestart(with cluster.Restart) error {
	switch with {
	case cluster.WithData, cluster.Empty, "":
		return nil
	}
	return fmt.Errorf("an embedded server can't come back with %q, only with data or empty", with)
}

// Kind says how it is hosted.
func (n *node) Kind() string { return "embedded" }

// Protocol is the service's.
func (n *node) Protocol() string { return n.cluster.o.Service.Protocol }

// OnLoopback is true: servers listen at loopback addresses, and so do links.
func (n *node) OnLoopback() bool { return true }

// Pause keeps the server from answering.
func (n *node) Pause(context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server == nil || n.down {
		return fmt.Errorf("pause node %s: it is down", n.name)
	}
	return n.server.Pause()
}

// Resume ends a pause. One that is down has nothing to resume.
func (n *node) Resume(context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server == nil || n.down {
		return nil
	}
	return n.server.Resume()
}

// portTries is how many ports are tried: another program can take one between our look and the server's bind.
const portTries = 5

func (n *node) start(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	dir := filepath.Join(n.cluster.dir, n.name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("node %s: %w", n.name, err)
	}
	var err error
	for range portTries {
		port, e := n.cluster.ports.Take()
		if e != nil {
			return fmt.Errorf("node %s: %w", n.name, e)
		}
		n.server, err = n.cluster.o.Service.Embed(ctx, cluster.NodeConfig{
			Name: n.name, Index: n.index, Host: host, Port: port, Dir: dir, Options: n.cluster.o.Server,
		})
		if err == nil {
			n.addr = net.JoinHostPort(host, strconv.Itoa(port))
			return n.await(ctx)
		}
	}
	return fmt.Errorf("node %s: %w", n.name, err)
}

func (n *node) revive(ctx context.Context, with cluster.Restart) error {
	if err := n.CanRestart(with); err != nil {
		return err
	}
	if with == cluster.Empty {
		if err := n.server.Reset(); err != nil {
			return err
		}
	}
	if err := n.server.Start(); err != nil {
		return err
	}
	return n.await(ctx)
}

func (n *node) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cluster.ReadyLimit)
	defer cancel()
	t := time.NewTicker(5 * time.Millisecond)
	defer t.Stop()
	for {
		err := n.cluster.o.Service.Ready(ctx, n.addr)
		if err == nil {
			return nil
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return fmt.Errorf("node %s did not become ready: %w", n.name, err)
		}
	}
}

func (n *node) close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server == nil {
		return nil
	}
	n.down = true
	return n.server.Close()
}
