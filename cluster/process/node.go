package process

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/ports"
	"github.com/locktest/locktest/internal/proc"
)

// node is one server. Its methods may be called from several goroutines; they wait for each other.
type node struct {
	cluster  *Cluster
	name     string
	index    int
	host     string
	dir, log string

	mu     sync.Mutex
	port   int            // for clients; 0 before the first start, then always the same
	ports  map[string]int // all of them, by name
	p      *proc.Process  // nil while it is down
	argv   []string
	frozen bool // its disk takes nothing

	// status is apart from mu, so that it can be read while a start is under way.
	status sync.Mutex
	seen   *proc.Process
	addr   string
}

func (n *node) Name() string    { return n.name }
func (n *node) LogFile() string { return n.log }

// Addr is empty before the cluster was started.
func (n *node) Addr() string {
	n.status.Lock()
	defer n.status.Unlock()
	return n.addr
}

// PortAddr is empty before ports were taken, and for a name that the service doesn't have.
func (n *node) PortAddr(name string) string {
	n.status.Lock()
	defer n.status.Unlock()
	if n.ports[name] == 0 {
		return ""
	}
	return net.JoinHostPort(n.host, strconv.Itoa(n.ports[name]))
}

func (n *node) Pid() int {
	n.status.Lock()
	defer n.status.Unlock()
	if n.seen == nil {
		return 0
	}
	return n.seen.Pid()
}

// Failed says how the server ended, if nobody killed it.
func (n *node) Failed() error {
	n.status.Lock()
	p := n.seen
	n.status.Unlock()
	if p == nil {
		return nil
	}
	select {
	case <-p.Done():
		return n.died(p)
	default:
		return nil
	}
}

// Kill ends the server's whole tree by SIGKILL, a paused one too. One that is down already stays so.
func (n *node) Kill(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.p == nil {
		return nil
	}
	n.show(nil) // first, so that Failed never calls this death unexpected
	if err := n.thawStopped(ctx); err != nil {
		n.show(n.p)
		return err
	}
	if err := n.p.Kill(ctx); err != nil {
		n.show(n.p)
		return fmt.Errorf("node %s: %w", n.name, err)
	}
	n.p = nil
	return nil
}

// Restart starts a killed server again, at the same address.
func (n *node) Restart(ctx context.Context, with cluster.Restart) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.p != nil {
		return fmt.Errorf("restart node %s: it runs already", n.name)
	}
	if n.port == 0 {
		return fmt.Errorf("restart node %s: it was never started", n.name)
	}
	if err := n.setData(ctx, with); err != nil {
		return fmt.Errorf("restart node %s: %w", n.name, err)
	}
	return n.launch(ctx)
}

// Forgets says whether the server keeps nothing when it is killed.
func (n *node) Forgets() bool {
	o := n.cluster.o
	return o.Service.Forgets != nil && o.Service.Forgets(o.Server)
}

// CanRestart says whether the service knows how to come back so.
func (n *node) CanRestart(with cluster.Restart) error {
	switch s := n.cluster.o.Service; {
	case with == cluster.WithData || with == "", with == cluster.Empty && s.Wipe != nil, with == cluster.WithPrefix && s.Prefix != nil:
		return nil
	case with == cluster.Empty:
		return fmt.Errorf("%s can't come back without its data", s.Name)
	case with == cluster.WithPrefix:
		return fmt.Errorf("%s can't come back with an earlier state of its data", s.Name)
	}
	return fmt.Errorf("a node can't come back with %q, only with data, prefix or empty", with)
}

// Kind says how it is hosted.
func (n *node) Kind() string { return n.cluster.kind() }

// Pause stops the server's whole tree.
func (n *node) Pause(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.p == nil {
		return fmt.Errorf("pause node %s: it is down", n.name)
	}
	return n.p.Pause(ctx)
}

// Resume ends a pause. One that is down has nothing to resume.
func (n *node) Resume(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.p == nil {
		return nil
	}
	return n.p.Resume(ctx)
}

// portTries is how many free ports are tried for one server: another program can take one between our look and its bind.
const portTries = 5

func (n *node) start(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.port != 0 { // reserved
		return n.launch(ctx)
	}
	var err error
	for range portTries {
		for _, name := range n.cluster.portNames() {
			port, e := n.cluster.reservePort(n, name, map[string]int{})
			if e != nil {
				return fmt.Errorf("start node %s: %w", n.name, e)
			}
			n.setPort(name, port)
		}
		if err = n.launch(ctx); n.cluster.basePort != 0 || !isCode(err, cluster.CodePortInUse) {
			return err
		}
	}
	return err
}

func (n *node) end(ctx context.Context) error { return n.Kill(ctx) }

func (n *node) config() cluster.NodeConfig {
	return cluster.NodeConfig{
		Name: n.name, Index: n.index, Host: n.host, Port: n.port, Dir: n.dir, Options: n.cluster.o.Server,
		Binary: n.cluster.binary, Run: n.run, Ports: maps.Clone(n.ports), Nodes: len(n.cluster.nodes), Peers: n.cluster.peersOf(n),
	}
}

func (n *node) setData(ctx context.Context, with cluster.Restart) error {
	if err := n.CanRestart(with); err != nil {
		return err
	}
	switch s := n.cluster.o.Service; with {
	case cluster.Empty:
		if err := s.Wipe(n.dir); err != nil || s.Rejoin == nil {
			return err
		}
		return s.Rejoin(ctx, n.config(), n.cluster.running(n))
	case cluster.WithPrefix:
		return s.Prefix(n.dir)
	default:
		return nil
	}
}

// launch starts the process and returns once it answers; on an error it is down.
func (n *node) launch(ctx context.Context) error {
	if err := n.awaitPort(ctx); err != nil {
		return err
	}
	s := n.cluster.o.Service
	config := n.config()
	if s.Prepare != nil {
		if err := s.Prepare(ctx, config); err != nil {
			return fmt.Errorf("prepare node %s: %w", n.name, err)
		}
	}
	argv, env := s.Command(config)
	n.argv = argv
	path := n.cluster.binary
	if s.Program != nil {
		var err error
		if path, err = s.Program(config); err != nil {
			return fmt.Errorf("start node %s: %w", n.name, err)
		}
	}
	p, err := n.spawn(path, argv, env)
	if err != nil {
		return fmt.Errorf("start node %s: %w", n.name, err)
	}
	if err := n.awaitReady(ctx, p); err != nil {
		return errors.Join(err, n.abandon(p))
	}
	n.p = p
	n.show(p)
	return nil
}

// spawn starts the server itself, or this program as the server, with host names of its own where it needs them.
func (n *node) spawn(path string, argv, env []string) (*proc.Process, error) {
	c := n.cluster
	cmd := proc.Command{Path: path, Args: argv, Env: env, Dir: n.dir, Log: n.log, User: c.user()}
	if c.o.Self != "" {
		cmd.Args = append([]string{c.o.Service.Child}, argv...)
	}
	if c.names() {
		if err := c.writeHosts(n); err != nil {
			return nil, err
		}
		cmd.Path, cmd.Args = withHosts(c.root(), n.hostsFile(), cmd.Path, cmd.Args)
	}
	return c.o.Spawner.Start(cmd)
}

// abandon ends a process that never became ready.
func (n *node) abandon(p *proc.Process) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	return p.Kill(ctx)
}

// portLimit is how long a restarted server's port may stay taken.
const portLimit = 2 * time.Second

func (n *node) awaitPort(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, portLimit)
	defer cancel()
	for step := time.Millisecond; !ports.Free(n.host, n.port); step *= 2 {
		if proc.Owner(n.port) != "" || !pause(ctx, step) {
			return n.portInUse()
		}
	}
	return nil
}

// awaitReady asks the server until it answers. An answer counts only if this process gave it.
func (n *node) awaitReady(ctx context.Context, p *proc.Process) error {
	ctx, cancel := context.WithTimeoutCause(ctx, n.cluster.o.Ready, errTooLate)
	defer cancel()
	var last error
	for step := time.Millisecond; ; step = min(2*step, 50*time.Millisecond) {
		if last = n.probe(ctx, p); last == nil {
			return nil
		}
		select {
		case <-p.Done():
			return n.ended(p)
		default:
		}
		if !pause(ctx, step) {
			return n.unready(ctx, p, last)
		}
	}
}

var errTooLate = errors.New("not ready in time")

func (n *node) probe(ctx context.Context, p *proc.Process) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := n.cluster.o.Service.Ready(ctx, n.Addr()); err != nil {
		return err
	}
	if listens, known := p.Listens(n.port); known && !listens {
		return errors.New("another process answers at its port")
	}
	return nil
}

func (n *node) setPort(name string, port int) {
	n.status.Lock()
	defer n.status.Unlock()
	n.ports[name] = port
	if name == cluster.ClientPort {
		n.port, n.addr = port, net.JoinHostPort(n.host, strconv.Itoa(port))
	}
}

func (n *node) show(p *proc.Process) {
	n.status.Lock()
	defer n.status.Unlock()
	n.seen = p
}

// pause waits for d, and says false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
