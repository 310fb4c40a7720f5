package docker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/proc"
)

// node is one server. Its methods may be called from several goroutines; they wait for each other.
type node struct {
	cluster *Cluster
	name    string
	index   int
	log     string

	mu        sync.Mutex
	container testcontainers.Container // nil before the start, and once it was removed
	now       *life                    // nil while it is down
	paused    bool

	// status is apart from mu, so that it can be read while a start is under way.
	status sync.Mutex
	seen   *life
	addr   string // the last one, which nobody listens at while it is down
}

func (n *node) Name() string    { return n.name }
func (n *node) LogFile() string { return n.log }

// Kind says how it is hosted.
func (n *node) Kind() string { return "docker" }

// Protocol is the service's.
func (n *node) Protocol() string { return n.cluster.o.Service.Protocol }

// Inside asks the node's server.
func (n *node) Inside() cluster.Inside {
	return cluster.Inside{Service: n.cluster.o.Service, Addr: n.Addr(), Running: n.cluster.running}
}

// Means says what does as much as a signal.
func (n *node) Means(signal string) string {
	if signal == "SIGSTOP" {
		return "its container is frozen"
	}
	return signal + " to its container"
}

// Addr is empty before the cluster was started, and another one after each restart.
func (n *node) Addr() string {
	n.status.Lock()
	defer n.status.Unlock()
	return n.addr
}

// Pid is the server's first process as this machine sees it; 0 while it is down, or where the engine runs in a machine of its own.
func (n *node) Pid() int {
	n.status.Lock()
	defer n.status.Unlock()
	if n.seen == nil {
		return 0
	}
	return n.seen.pid
}

// HasPid says why the server's processes can't be reached from this machine.
func (n *node) HasPid() error {
	n.status.Lock()
	l := n.seen
	n.status.Unlock()
	if l != nil && l.pid == 0 {
		return errors.New("the processes of its container can't be seen from here")
	}
	return n.cluster.engine.apart()
}

// Failed says how the server ended, if nobody killed it.
func (n *node) Failed() error {
	n.status.Lock()
	l := n.seen
	n.status.Unlock()
	if l == nil {
		return nil
	}
	select {
	case <-l.done:
		return n.died(n.name+" ended by itself", l.how)
	default:
		return nil
	}
}

// Kill ends all of the container's processes by SIGKILL, a paused one's too. One that is down already stays so.
func (n *node) Kill(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.now == nil {
		return nil
	}
	n.show(nil) // first, so that Failed never calls this death unexpected
	if err := n.kill(ctx, n.now); err != nil {
		n.show(n.now)
		return fmt.Errorf("node %s: %w", n.name, err)
	}
	n.now, n.paused = nil, false
	return nil
}

// kill returns once the container has ended.
func (n *node) kill(ctx context.Context, l *life) error {
	_, err := n.cluster.api().ContainerKill(ctx, l.id, client.ContainerKillOptions{Signal: "SIGKILL"})
	if err != nil && !errdefs.IsConflict(err) && !errdefs.IsNotFound(err) { // a conflict: it has ended
		return fmt.Errorf("kill its container: %w", err)
	}
	select {
	case <-l.done:
		l.logs.Wait()
		return nil
	case <-ctx.Done():
		return fmt.Errorf("kill its container: %w", context.Cause(ctx))
	}
}

// Restart starts a killed server again, at another address. Without its data it is a new container.
func (n *node) Restart(ctx context.Context, with cluster.Restart) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.now != nil {
		return fmt.Errorf("restart node %s: it runs already", n.name)
	}
	if n.container == nil {
		return fmt.Errorf("restart node %s: it was never started", n.name)
	}
	if err := n.CanRestart(with); err != nil {
		return fmt.Errorf("restart node %s: %w", n.name, err)
	}
	if with == cluster.Empty {
		if err := n.renew(ctx); err != nil {
			return fmt.Errorf("restart node %s: %w", n.name, err)
		}
	}
	return n.launch(ctx)
}

// CanRestart says that a container has all of its data or none.
func (n *node) CanRestart(with cluster.Restart) error {
	switch with {
	case cluster.WithData, cluster.Empty, "":
		return nil
	}
	return fmt.Errorf("a container can't come back with %q, only with data or empty", with)
}

// Forgets says whether the server keeps nothing when it is killed.
func (n *node) Forgets() bool {
	o := n.cluster.o
	return o.Service.Forgets != nil && o.Service.Forgets(o.Server)
}

// Pause freezes all of the container's processes.
func (n *node) Pause(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.now == nil {
		return fmt.Errorf("pause node %s: it is down", n.name)
	}
	if n.paused {
		return nil
	}
	if _, err := n.cluster.api().ContainerPause(ctx, n.now.id, client.ContainerPauseOptions{}); err != nil {
		return fmt.Errorf("pause node %s: %w", n.name, err)
	}
	n.paused = true
	return nil
}

// Resume ends a pause. One that is down has nothing to resume.
func (n *node) Resume(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.now == nil || !n.paused {
		return nil
	}
	if _, err := n.cluster.api().ContainerUnpause(ctx, n.now.id, client.ContainerUnpauseOptions{}); err != nil {
		return fmt.Errorf("resume node %s: %w", n.name, err)
	}
	n.paused = false
	return nil
}

// HasTime says whether the service can be asked for its time.
func (n *node) HasTime() error {
	if n.cluster.o.Service.Time == nil {
		return fmt.Errorf("%s doesn't tell its time", n.cluster.o.Service.Name)
	}
	return nil
}

// Time asks the server, past every link.
func (n *node) Time(ctx context.Context) (time.Time, error) {
	if err := n.HasTime(); err != nil {
		return time.Time{}, err
	}
	return n.cluster.o.Service.Time(ctx, n.Addr())
}

func (n *node) config() cluster.NodeConfig {
	return cluster.NodeConfig{Name: n.name, Index: n.index, Host: "0.0.0.0", Port: n.cluster.o.Service.Container.Port,
		Options: n.cluster.o.Server, Nodes: len(n.cluster.nodes)}
}

func (n *node) start(ctx context.Context) (err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.container, err = n.create(ctx); err != nil {
		n.container = nil
		return err
	}
	return n.launch(ctx)
}

// renew replaces a container that is down.
func (n *node) renew(ctx context.Context) error {
	if err := n.remove(ctx, n.container); err != nil {
		return err
	}
	fresh, err := n.create(ctx)
	if err != nil {
		return err // the old one stays the container's name for the next try, and removing it again is no error
	}
	n.container = fresh
	return nil
}

func (n *node) remove(ctx context.Context, c testcontainers.Container) error {
	err := c.Terminate(ctx, testcontainers.StopTimeout(0)) // it ends the container's tie to the reaper as well
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("remove the container of %s: %w", n.name, err)
	}
	return nil
}

// launch starts the container and returns once the server answers; on an error it is down.
func (n *node) launch(ctx context.Context) error {
	l, err := n.begin(ctx, n.container.GetContainerID())
	if err != nil {
		return err
	}
	n.status.Lock()
	n.addr = l.addr
	n.status.Unlock()
	if err := n.awaitReady(ctx, l); err != nil {
		return errors.Join(err, n.stop(l))
	}
	n.now, n.paused = l, false
	n.show(l)
	return nil
}

var errTooLate = errors.New("not ready in time")

func (n *node) awaitReady(ctx context.Context, l *life) error {
	ctx, cancel := context.WithTimeoutCause(ctx, n.cluster.o.Ready, errTooLate)
	defer cancel()
	for step := time.Millisecond; ; step = min(2*step, 50*time.Millisecond) {
		one, done := context.WithTimeout(ctx, time.Second)
		last := n.cluster.o.Service.Ready(one, l.addr)
		done()
		if last == nil {
			return nil
		}
		select {
		case <-l.done:
			l.logs.Wait()
			return n.died(n.name+" did not become ready", l.how)
		case <-ctx.Done():
			return n.unready(ctx, last)
		case <-time.After(step):
		}
	}
}

func (n *node) unready(ctx context.Context, last error) error {
	if !errors.Is(context.Cause(ctx), errTooLate) {
		return fmt.Errorf("start node %s: %w", n.name, context.Cause(ctx))
	}
	return n.died(fmt.Sprintf("%s did not become ready in %v", n.name, n.cluster.o.Ready), fmt.Errorf("it runs, but: %w", last))
}

// tailLines is how much of a log explains a death.
const tailLines = 10

func (n *node) died(what string, how error) error {
	e := &cluster.Error{Code: cluster.CodeServerDied, Message: what, Details: []string{"image: " + n.cluster.image, fmt.Sprintf("%v; last lines of %s:", how, n.log)}}
	lines, err := proc.Tail(n.log, tailLines)
	if err != nil {
		lines = []string{err.Error()}
	}
	for _, l := range lines {
		e.Details = append(e.Details, "    "+l)
	}
	return e
}

func (n *node) show(l *life) {
	n.status.Lock()
	defer n.status.Unlock()
	n.seen = l
}

// end removes the container, whatever its state.
func (n *node) end(ctx context.Context) error {
	err := n.Kill(ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.container == nil {
		return err
	}
	if e := n.remove(ctx, n.container); e != nil {
		return errors.Join(err, e)
	}
	n.container = nil
	return err
}

var (
	_ cluster.Killer         = (*node)(nil)
	_ cluster.RestartChecker = (*node)(nil)
	_ cluster.Pauser         = (*node)(nil)
	_ cluster.Forgetful      = (*node)(nil)
	_ cluster.LogFile        = (*node)(nil)
	_ cluster.Pidded         = (*node)(nil)
	_ cluster.PidChecker     = (*node)(nil)
	_ cluster.Watched        = (*node)(nil)
	_ cluster.Clocked        = (*node)(nil)
)
