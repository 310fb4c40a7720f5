package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/moby/moby/client"

	"github.com/locktest/locktest/cluster"
)

// endpoint is where an engine is looked for, and who says so.
type endpoint struct{ addr, from string }

// pingLimit is how long an engine may take to answer at all.
const pingLimit = 10 * time.Second

// Engine returns what answers as the container engine: "Docker 20.10.24 at unix:///var/run/docker.sock (the default socket)". The
// error is a *cluster.Error that says where it was looked for.
func Engine(ctx context.Context) (string, error) {
	at, err := findEndpoint()
	if err != nil {
		return "", err
	}
	e, err := at.ask(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Docker %s at %s (%s)", e.version, at.addr, at.from), nil
}

// findEndpoint follows the order of the docker command: DOCKER_HOST, the context in use, the default socket; then the one of an
// engine without root.
func findEndpoint() (endpoint, error) {
	if host := os.Getenv(client.EnvOverrideHost); host != "" {
		return endpoint{host, client.EnvOverrideHost}, nil
	}
	if at, err := contextEndpoint(); err != nil || at.addr != "" {
		return at, err
	}
	if rootless := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "docker.sock"); filepath.IsAbs(rootless) && !exists(defaultSocket) && exists(rootless) {
		return endpoint{"unix://" + rootless, "the socket in XDG_RUNTIME_DIR"}, nil
	}
	return endpoint{client.DefaultDockerHost, "the default socket; neither DOCKER_HOST nor a context says otherwise"}, nil
}

const defaultSocket = "/var/run/docker.sock"

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// contextEndpoint is that of the docker command's context; the zero endpoint where it has none of its own.
func contextEndpoint() (endpoint, error) {
	dir := os.Getenv("DOCKER_CONFIG")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return endpoint{}, nil // without a home there is no context
		}
		dir = filepath.Join(home, ".docker")
	}
	name, from := os.Getenv("DOCKER_CONTEXT"), "DOCKER_CONTEXT"
	if name == "" {
		var config struct{ CurrentContext string }
		file := filepath.Join(dir, "config.json")
		if err := readJSON(file, &config); err != nil {
			return endpoint{}, fmt.Errorf("find the container engine: %w", err)
		}
		name, from = config.CurrentContext, file
	}
	if name == "" || name == "default" {
		return endpoint{}, nil
	}
	var meta struct {
		Endpoints map[string]struct{ Host string }
	}
	sum := sha256.Sum256([]byte(name))
	file := filepath.Join(dir, "contexts", "meta", hex.EncodeToString(sum[:]), "meta.json")
	if err := readJSON(file, &meta); err != nil {
		return endpoint{}, fmt.Errorf("find the container engine of context %s: %w", name, err)
	}
	if host := meta.Endpoints["docker"].Host; host != "" {
		return endpoint{host, "context " + name + " of " + from}, nil
	}
	return endpoint{}, noEngine(endpoint{"nothing", "context " + name + " of " + from}, fmt.Errorf("%s names no engine", file))
}

// readJSON leaves v alone where there is no such file.
func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// engine is what one says of itself.
type engine struct{ version, machine, kernel string }

func (e endpoint) ask(ctx context.Context) (engine, error) {
	if err := e.local(); err != nil {
		return engine{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, pingLimit)
	defer cancel()
	c, err := client.New(client.FromEnv, client.WithHost(e.addr))
	if err != nil {
		return engine{}, noEngine(e, err)
	}
	defer c.Close()
	r, err := c.Info(ctx, client.InfoOptions{})
	if err != nil {
		return engine{}, noEngine(e, err)
	}
	return engine{r.Info.ServerVersion, r.Info.Name, r.Info.KernelVersion}, nil
}

// apart says why the processes of its containers can't be seen from here; nil where they can.
func (e engine) apart() error {
	name, err := os.Hostname()
	if err == nil && name == e.machine && runtime.GOOS == "linux" {
		return nil
	}
	return fmt.Errorf("the container engine runs in a machine of its own (%s, kernel %s)", e.machine, e.kernel)
}

// local refuses engines on other machines: the ports that containers publish there can't be reached at this machine's
// loopback address, and nothing else is dialed.
func (e endpoint) local() error {
	u, err := url.Parse(e.addr)
	if err != nil {
		return noEngine(e, err)
	}
	switch u.Scheme {
	case "unix", "npipe":
		return nil
	case "tcp", "http", "https":
		if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
			return nil
		}
	}
	return &cluster.Error{
		Code:    cluster.CodeNoEngine,
		Message: "the container engine is not on this machine",
		Details: []string{fmt.Sprintf("found: %s (%s)", e.addr, e.from), "containers publish their ports on 127.0.0.1 of the engine's machine"},
		Fix:     []string{"DOCKER_HOST=unix:///var/run/docker.sock, or another engine on this machine", "run locktest where that engine is"},
	}
}

func noEngine(e endpoint, err error) error {
	fix := []string{"systemctl start docker, or dockerd by hand", "DOCKER_HOST=unix:///PATH names another one", "--on process runs the servers without containers"}
	if runtime.GOOS == "linux" && !exists("/usr/sbin/dockerd") && !exists("/usr/bin/dockerd") {
		fix = append([]string{"apt install docker.io"}, fix...)
	}
	return &cluster.Error{
		Code:    cluster.CodeNoEngine,
		Message: "no container engine answers",
		Details: []string{fmt.Sprintf("tried: %s (%s)", e.addr, e.from)},
		Fix:     fix,
		Err:     err,
	}
}
