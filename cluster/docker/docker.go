// Package docker is a cluster of servers in containers on this machine, by the Testcontainers library. It knows no server: a
// cluster.Service says which image runs it and how it is asked.
//
// Every port is published at a free port of 127.0.0.1, and dialed there and nowhere else. That port changes when a container is
// started again, so that an address is asked for anew at each connection (see package proxy). Data lives and dies with the
// container: to come back empty is to come back as a new one. SIGKILL ends a container's first process, and then the system the others,
// which may notice that the first is gone: for a moment a killed PostgreSQL can still say so to its clients.
package docker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/proc"
)

// Labels of every container.
const (
	LabelHarness = "locktest.harness" // proc.Ident of the harness
	LabelMachine = "locktest.machine" // proc.Machine of that
	LabelRun     = "locktest.run"     // the run's id
	LabelNode    = "locktest.node"    // n1
)

// Options of a Cluster.
type Options struct {
	Service cluster.Service
	Nodes   int               // 0: the service's default
	Server  map[string]string // the server's options
	Image   string            // empty: the service's
	Version string            // of that; empty: the service's
	// LogDir keeps each node's log, NAME.log. Empty: nothing is kept.
	LogDir string
	Run    string        // the run's id, a label of the containers
	Ready  time.Duration // how long a node may take to answer; 0: cluster.ReadyLimit
	Log    *slog.Logger  // nil: nothing is logged
}

// Cluster implements cluster.Cluster. Its nodes are Killers, Pausers, LogFiles, Pidded, Watched and Clocked.
type Cluster struct {
	o      Options
	image  string
	engine engine
	nodes  []*node

	mu       sync.Mutex
	provider *testcontainers.DockerProvider
	logs     string // a folder of our own, where LogDir is empty
	started  bool
}

// Quiet stops the library from writing to standard error by itself. It sets a variable of that library, so it is for main
// functions to call.
func Quiet() { tclog.SetDefault(tclog.NewNoopLogger()) }

// New checks the options and that an engine answers; nothing is started. The error is a *cluster.Error where a person can mend it.
func New(o Options) (*Cluster, error) {
	image, err := ImageOf(o.Service, o.Image, o.Version)
	if err != nil {
		return nil, err
	}
	if o.Nodes == 0 {
		o.Nodes = max(1, o.Service.Nodes)
	}
	if o.Service.Peering != nil && o.Nodes > 1 {
		return nil, &cluster.Error{
			Code:    cluster.CodeUnhostable,
			Message: fmt.Sprintf("%d nodes of %s talk to each other, and containers have no links that could fail between them", o.Nodes, o.Service.Name),
			Fix:     []string{"--on auto runs them as processes", "cluster.nodes: 1"},
		}
	}
	if err := o.Service.CheckOptions(o.Server); err != nil {
		return nil, &cluster.Error{Code: cluster.CodeUnhostable, Message: "a container can't be started so", Err: err}
	}
	if o.Ready == 0 {
		o.Ready = cluster.ReadyLimit
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	at, err := findEndpoint()
	if err != nil {
		return nil, err
	}
	c := &Cluster{o: o, image: image}
	if c.engine, err = at.ask(context.Background()); err != nil {
		return nil, err
	}
	for i := range o.Nodes {
		c.nodes = append(c.nodes, &node{cluster: c, name: fmt.Sprintf("n%d", i+1), index: i})
	}
	return c, at.tell()
}

// tell gives the library what it would otherwise find by rules of its own: the engine, and the one address at which ports are
// published. Where it takes itself to be in a container it would dial the gateway of the engine's network.
func (e endpoint) tell() error {
	for name, value := range map[string]string{client.EnvOverrideHost: e.addr, "TESTCONTAINERS_HOST_OVERRIDE": host} {
		if os.Getenv(name) == "" {
			if err := os.Setenv(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// Start starts all nodes at once.
func (c *Cluster) Start(ctx context.Context) error {
	if err := c.prepare(ctx); err != nil {
		return errors.Join(fmt.Errorf("start cluster: %w", err), c.Close())
	}
	errs := make([]error, len(c.nodes))
	var wg sync.WaitGroup
	for i, n := range c.nodes {
		wg.Go(func() { errs[i] = n.start(ctx) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil { // the others' are mostly the same again
			return errors.Join(err, c.Close())
		}
	}
	return nil
}

func (c *Cluster) prepare(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started {
		return errors.New("it was started before")
	}
	c.started = true
	if err := ctx.Err(); err != nil {
		return err
	}
	logs := c.o.LogDir
	if logs == "" {
		var err error
		if c.logs, err = os.MkdirTemp("", proc.TempName()); err != nil {
			return err
		}
		logs = c.logs
	}
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return err
	}
	for _, n := range c.nodes {
		n.log = filepath.Join(logs, n.name+".log")
	}
	var err error
	if c.provider, err = testcontainers.NewDockerProvider(testcontainers.WithLogger(tclog.NewNoopLogger())); err != nil {
		return fmt.Errorf("reach the container engine: %w", err)
	}
	if err := haveReaper(ctx, c.api()); err != nil {
		return err
	}
	return haveImage(ctx, c.api(), c.image, "docker pull "+c.image, "cluster.image names another one")
}

func (c *Cluster) api() client.APIClient { return c.provider.Client() }

// Nodes returns n1, n2 and so on.
func (c *Cluster) Nodes() []cluster.Node {
	out := make([]cluster.Node, len(c.nodes))
	for i, n := range c.nodes {
		out[i] = n
	}
	return out
}

// closeLimit is how long the containers may take to be removed.
const closeLimit = 30 * time.Second

// Close removes the containers, and with them their data. Logs in LogDir stay.
func (c *Cluster) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	errs := make([]error, len(c.nodes))
	var wg sync.WaitGroup
	for i, n := range c.nodes {
		wg.Go(func() { errs[i] = n.end(ctx) })
	}
	wg.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.provider != nil {
		errs = append(errs, c.provider.Close())
	}
	if c.logs != "" {
		errs = append(errs, os.RemoveAll(c.logs))
		c.logs = ""
	}
	return errors.Join(errs...)
}

// Describe says what runs: "redis:7-alpine, 5 containers (Docker 20.10.24)".
func (c *Cluster) Describe() string {
	n := "1 container"
	if len(c.nodes) != 1 {
		n = fmt.Sprintf("%d containers", len(c.nodes))
	}
	return fmt.Sprintf("%s, %s (Docker %s)", c.image, n, c.engine.version)
}

// running are the addresses of the nodes that aren't down.
func (c *Cluster) running() map[string]string {
	out := map[string]string{}
	for _, n := range c.nodes {
		n.status.Lock()
		if n.seen != nil {
			out[n.name] = n.addr
		}
		n.status.Unlock()
	}
	return out
}
