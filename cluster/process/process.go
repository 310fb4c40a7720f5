// Package process is a cluster of servers as OS processes on this machine, found by their binaries. It knows no server: a
// cluster.Service says how one is started and asked.
package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/ports"
	"github.com/locktest/locktest/internal/proc"
)

// BasePort is the option that fixes ports: n1 listens on it, n2 on the next, and so on. Without it ports are free ones.
const BasePort = "base_port"

// host is where every server listens.
const host = "127.0.0.1"

// Options of a Cluster.
type Options struct {
	Service cluster.Service
	Nodes   int               // 0: the service's default
	Name    string            // of a single node; empty: n1
	Server  map[string]string // the server's options, and BasePort
	// Self runs the server as a child of this program, which is at that path, instead of a binary of the server's own. The
	// service has to have a Child. Empty: the binary is looked for.
	Self string
	// LogDir keeps each node's log, NAME.log; it is made if absent. Empty: logs are removed with the data.
	LogDir string
	// Disks gives each node's folder a file system of its own, which can be frozen: see internal/disk for what it needs.
	Disks   bool
	Spawner *proc.Spawner
	Ready   time.Duration // how long a node may take to answer; 0: cluster.ReadyLimit
	Log     *slog.Logger  // nil: nothing is logged
}

// Cluster implements cluster.Cluster. Its nodes are Killers, Pausers, LogFiles, Pidded and Watched.
type Cluster struct {
	o        Options
	binary   string
	basePort int

	mu      sync.Mutex
	ports   *ports.Allocator
	dir     string
	nodes   []*node
	version string
	made    bool // folders
	started bool
	peers   cluster.PeerNetwork
}

// New finds the server's binary and checks the options; nothing is started. The error is a *cluster.Error where a person can
// mend it.
func New(o Options) (*Cluster, error) {
	binary, err := findOrSelf(o)
	if err != nil {
		return nil, err
	}
	if o.Nodes == 0 {
		o.Nodes = max(1, o.Service.Nodes)
	}
	if o.Ready == 0 {
		o.Ready = cluster.ReadyLimit
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Cluster{o: o, binary: binary}
	if err := c.readOptions(); err != nil {
		return nil, err
	}
	for i := range o.Nodes {
		c.nodes = append(c.nodes, &node{cluster: c, name: fmt.Sprintf("n%d", i+1), index: i, ports: map[string]int{}})
	}
	for _, n := range c.nodes {
		n.host = c.hostOf(n.index)
	}
	if o.Name != "" {
		if o.Nodes != 1 {
			return nil, fmt.Errorf("one name, %s, for %d nodes", o.Name, o.Nodes)
		}
		c.nodes[0].name = o.Name
	}
	if c.names() {
		return c, namesWork(o.Service.Name, c.root())
	}
	return c, nil
}

func findOrSelf(o Options) (string, error) {
	switch {
	case o.Self == "":
		return Find(o.Service)
	case o.Service.Child == "" || o.Service.Command == nil:
		return "", &cluster.Error{Code: cluster.CodeUnhostable, Message: o.Service.Name + " is no part of locktest", Fix: []string{"choose another kind of cluster: --on process"}}
	}
	return o.Self, nil
}

// versionOf is whom to ask: nobody where the server is a part of this program.
func (c *Cluster) versionOf() string {
	if c.o.Self != "" {
		return ""
	}
	return c.binary
}

// kind is the word for how the nodes are hosted.
func (c *Cluster) kind() string {
	if c.o.Self != "" {
		return "embedded"
	}
	return "process"
}

func (c *Cluster) readOptions() error {
	server := map[string]string{}
	for name, value := range c.o.Server {
		server[name] = value
	}
	if text, ok := server[BasePort]; ok {
		port, err := strconv.Atoi(text)
		if err != nil || port < 1 || port+c.o.Nodes > 65536 {
			return fmt.Errorf("option %s is %q, want a port from 1 to %d", BasePort, text, 65536-c.o.Nodes)
		}
		c.basePort = port
		delete(server, BasePort)
	}
	c.o.Server = server
	return c.o.Service.CheckOptions(server)
}

// Start starts all nodes at once. The first that can't be started ends the others' starts: they may be waiting for it.
func (c *Cluster) Start(ctx context.Context) error {
	if err := c.begin(ctx); err != nil {
		return errors.Join(fmt.Errorf("start cluster: %w", err), c.Close())
	}
	starting, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make(chan error, len(c.nodes))
	for _, n := range c.nodes {
		go func() {
			err := n.start(starting)
			errs <- err
			if err != nil {
				cancel()
			}
		}()
	}
	var first error
	for range c.nodes {
		first = cmp.Or(first, <-errs)
	}
	if first != nil {
		return errors.Join(first, c.Close())
	}
	if err := c.awaitFormed(ctx); err != nil {
		return errors.Join(err, c.Close())
	}
	return nil
}

// awaitFormed asks the nodes until they are one cluster.
func (c *Cluster) awaitFormed(ctx context.Context) error {
	if c.o.Service.Formed == nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.o.Ready, errTooLate)
	defer cancel()
	for {
		one, done := context.WithTimeout(ctx, time.Second)
		err := c.o.Service.Formed(one, c.running(nil))
		done()
		if err == nil {
			return nil
		}
		if !pause(ctx, 10*time.Millisecond) {
			return c.unformed(ctx, err)
		}
	}
}

// Nodes returns n1, n2 and so on.
func (c *Cluster) Nodes() []cluster.Node {
	out := make([]cluster.Node, len(c.nodes))
	for i, n := range c.nodes {
		out[i] = n
	}
	return out
}

// closeLimit is how long the nodes may take to be killed.
const closeLimit = 20 * time.Second

// Close kills what runs and removes the data. Logs in LogDir stay.
func (c *Cluster) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	var errs []error
	for _, n := range c.nodes {
		errs = append(errs, n.end(ctx))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir != "" {
		errs = append(errs, c.leave(), c.removeDisks())
		if errors.Join(errs...) == nil || !c.o.Disks { // nothing is removed under a disk that is still there
			errs = append(errs, os.RemoveAll(c.dir))
		}
		c.dir = ""
	}
	if c.ports != nil {
		errs = append(errs, c.ports.Close())
	}
	return errors.Join(errs...)
}

// leave gives back what the servers took from the system beyond their folders.
func (c *Cluster) leave() error {
	if c.o.Service.Leave == nil {
		return nil
	}
	var errs []error
	for _, n := range c.nodes {
		if n.dir != "" {
			errs = append(errs, c.o.Service.Leave(n.dir))
		}
	}
	return errors.Join(errs...)
}

// Describe says what runs: "redis-server 7.0.15, 5 processes". The version is known once the cluster was started.
func (c *Cluster) Describe() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	what := c.version
	if what == "" {
		what = c.o.Service.Binary
	}
	if len(c.nodes) == 1 {
		return what + ", 1 process"
	}
	return fmt.Sprintf("%s, %d processes", what, len(c.nodes))
}

// begin has everything ready that Reserve hasn't made.
func (c *Cluster) begin(ctx context.Context) error {
	c.mu.Lock()
	again, made := c.started, c.made
	c.started = true
	c.mu.Unlock()
	switch {
	case again:
		return errors.New("it was started before")
	case c.Peering() != nil && c.peers == nil:
		return errors.New("its nodes talk to each other, and nobody has made their links")
	case made:
		return nil
	}
	return c.prepare(ctx)
}

// prepare makes folders.
func (c *Cluster) prepare(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made {
		return errors.New("it was made before")
	}
	c.made = true
	var err error
	if c.dir, err = os.MkdirTemp("", proc.TempName()); err != nil {
		return err
	}
	if err := c.o.Spawner.RemoveLater(c.dir); err != nil {
		return err
	}
	if err := os.Chmod(c.dir, 0o755); err != nil { // a server may run as another user
		return err
	}
	if c.ports, err = ports.New(host); err != nil {
		return err
	}
	if c.version, err = c.o.Service.Version(ctx, c.versionOf()); err != nil {
		return &cluster.Error{Code: cluster.CodeServerDied, Message: c.binary + " doesn't tell its version", Err: err, Fix: c.o.Service.Hint}
	}
	logs := c.dir
	if c.o.LogDir != "" {
		logs = c.o.LogDir
	}
	for _, n := range c.nodes {
		n.dir, n.log = filepath.Join(c.dir, n.name), filepath.Join(logs, n.name+".log")
		if err := errors.Join(os.MkdirAll(n.dir, 0o755), os.MkdirAll(logs, 0o755), c.makeDisk(ctx, n), c.own(n.dir)); err != nil {
			return err
		}
	}
	return nil
}
