package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/locktest/locktest/internal/proc"
)

// host is where every port is published, and dialed.
const host = "127.0.0.1"

// life is one start of a container until its end.
type life struct {
	id   string
	addr string
	pid  int           // on this machine; 0 where the engine's processes aren't seen from here
	done chan struct{} // closed once it has ended
	how  error         // that; set before done is closed
	logs sync.WaitGroup
}

// create makes n's container; it doesn't run yet.
func (n *node) create(ctx context.Context) (testcontainers.Container, error) {
	s := n.cluster.o.Service.Container
	argv, env := s.Command(n.config())
	port := n.port()
	req := testcontainers.ContainerRequest{
		Image: n.cluster.image, Cmd: argv, Env: map[string]string{}, ExposedPorts: []string{port.String()},
		Labels: map[string]string{LabelHarness: proc.OwnIdent(), LabelMachine: proc.Machine(), LabelRun: n.cluster.o.Run, LabelNode: n.name},
		HostConfigModifier: func(h *container.HostConfig) {
			h.PortBindings = network.PortMap{port: {{HostIP: netip.MustParseAddr(host)}}}
		},
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		req.Env[name] = value
	}
	c, err := n.cluster.provider.CreateContainer(ctx, req)
	if err == nil {
		return c, nil
	}
	if c != nil { // it was made, and then something was wrong with it
		err = errors.Join(err, n.remove(context.WithoutCancel(ctx), c))
	}
	return nil, fmt.Errorf("make the container of %s: %w", n.name, err)
}

func (n *node) port() network.Port {
	port, ok := network.PortFrom(uint16(n.cluster.o.Service.Container.Port), network.TCP)
	if !ok {
		panic(fmt.Sprintf("port %d of %s is none", n.cluster.o.Service.Container.Port, n.cluster.o.Service.Name))
	}
	return port
}

// begin starts a container, and says where it is now.
func (n *node) begin(ctx context.Context, id string) (*life, error) {
	api := n.cluster.api()
	before, err := api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return nil, fmt.Errorf("ask for the container of %s: %w", n.name, err)
	}
	if _, err := api.ContainerStart(ctx, id, client.ContainerStartOptions{}); err != nil {
		return nil, fmt.Errorf("start the container of %s: %w", n.name, err)
	}
	l := &life{id: id, done: make(chan struct{})}
	ended := api.ContainerWait(context.WithoutCancel(ctx), id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	go func() {
		l.how = howItEnded(ended)
		close(l.done)
	}()
	in, err := api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("ask for the container of %s: %w", n.name, err), n.stop(l))
	}
	l.follow(api, n.log, before.Container.State.FinishedAt) // when it started is too late: the engine notes that after the first lines
	if l.addr = published(in.Container, n.port()); l.addr == "" && in.Container.State.Running {
		return nil, errors.Join(fmt.Errorf("the container of %s publishes no port %s", n.name, n.port()), n.stop(l))
	}
	l.pid = localPid(in.Container)
	return l, nil
}

func howItEnded(w client.ContainerWaitResult) error {
	select {
	case r := <-w.Result:
		if r.Error != nil {
			return errors.New(r.Error.Message)
		}
		return fmt.Errorf("it exited with status %d", r.StatusCode)
	case err := <-w.Error:
		return fmt.Errorf("the engine lost sight of it: %w", err)
	}
}

// published is where the engine publishes the port now; empty where it doesn't.
func published(in container.InspectResponse, port network.Port) string {
	if in.NetworkSettings == nil {
		return ""
	}
	for _, b := range in.NetworkSettings.Ports[port] {
		if b.HostPort != "" && b.HostPort != "0" {
			return net.JoinHostPort(host, b.HostPort)
		}
	}
	return ""
}

// localPid is the server's process where the engine runs beside us; where it runs in a machine of its own, the number is somebody
// else's here, or nobody's.
func localPid(in container.InspectResponse) int {
	if in.State == nil || in.State.Pid <= 0 {
		return 0
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(in.State.Pid) + "/cgroup")
	if err != nil || !strings.Contains(string(b), in.ID) && !ownNamespace(in) {
		return 0
	}
	return in.State.Pid
}

// ownNamespace says so by the container's network, where control groups have namespaces of their own and don't name it.
func ownNamespace(in container.InspectResponse) bool {
	if in.NetworkSettings == nil || in.NetworkSettings.SandboxKey == "" {
		return false
	}
	a, errA := os.Stat(in.NetworkSettings.SandboxKey)
	b, errB := os.Stat("/proc/" + strconv.Itoa(in.State.Pid) + "/ns/net")
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// neverEnded is when a container ended that was never started.
const neverEnded = "0001-01-01T00:00:00Z"

// follow copies what the server writes after that time to the node's log, until it ends.
func (l *life) follow(api client.APIClient, path, since string) {
	if since == neverEnded {
		since = ""
	}
	l.logs.Go(func() {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return // there is no log then, which who reads it is told
		}
		defer f.Close()
		r, err := api.ContainerLogs(context.Background(), l.id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Follow: true, Since: since})
		if err != nil {
			fmt.Fprintf(f, "locktest: the engine gives no log: %v\n", err)
			return
		}
		go func() { <-l.done; time.AfterFunc(logLimit, func() { r.Close() }) }() // else a lost engine would be waited for
		if _, err := stdcopy.StdCopy(f, f, r); err != nil && !errors.Is(err, io.EOF) {
			fmt.Fprintf(f, "locktest: the log ends here: %v\n", err)
		}
		r.Close()
	})
}

// logLimit is how long the rest of a log may take to come once its container has ended.
const logLimit = 5 * time.Second

// stop kills the container, a paused one too, and returns once it has ended.
func (n *node) stop(l *life) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	return n.kill(ctx, l)
}
