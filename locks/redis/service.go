package redis

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/wire"
)

// The values of the server's option "persistence": what a restarted node finds of its data.
const (
	persistNone     = "none"         // nothing
	persistEverySec = "aof-everysec" // an append-only file, flushed to the disk once a second
	persistAlways   = "aof-always"   // flushed before each reply
)

// Service is a Redis server: redis-server as a process, or one in this process by miniredis.
func Service() cluster.Service {
	return cluster.Service{
		Name:      "redis",
		Binary:    "redis-server",
		Env:       "LOCKTEST_REDIS_SERVER",
		Hint:      []string{"apt install redis-server", "brew install redis"},
		Nodes:     1,
		Options:   map[string][]string{"persistence": {persistNone, persistEverySec, persistAlways}},
		Command:   command,
		Embed:     embed,
		Ready:     ping,
		Version:   version,
		Wipe:      wipe,
		Prefix:    prefix,
		Forgets:   func(o map[string]string) bool { return o["persistence"] == "" || o["persistence"] == persistNone },
		Time:      serverTime,
		Container: &cluster.Container{Image: "redis:7-alpine", Port: 6379, Command: containerCommand},

		Protocol:   wire.RESP,
		Disconnect: disconnect, Flush: flush, Evict: evict, Residue: residue,
	}
}

// containerCommand keeps the data where the images of Redis do.
func containerCommand(c cluster.NodeConfig) (argv, env []string) {
	c.Dir = "/data"
	argv, env = command(c)
	return append([]string{"redis-server"}, argv...), env
}

func command(c cluster.NodeConfig) (argv, env []string) {
	for _, setting := range settings(c) {
		argv = append(argv, "--"+setting[0])
		argv = append(argv, setting[1:]...)
	}
	return argv, nil
}

// settings are lines of a configuration, in words.
func settings(c cluster.NodeConfig) [][]string {
	lines := [][]string{
		{"bind", c.Host}, {"port", strconv.Itoa(c.Port)}, {"dir", c.Dir}, {"daemonize", "no"}, {"protected-mode", "no"}, {"save", ""},
	}
	switch c.Options["persistence"] {
	case persistEverySec:
		// The times are for a restart with an earlier state.
		return append(lines, []string{"appendonly", "yes"}, []string{"appendfsync", "everysec"}, []string{"aof-timestamp-enabled", "yes"})
	case persistAlways:
		return append(lines, []string{"appendonly", "yes"}, []string{"appendfsync", "always"})
	default:
		return append(lines, []string{"appendonly", "no"})
	}
}

// ping asks through a socket of its own: a client library's retries and back-off would only add to the time.
func ping(ctx context.Context, addr string) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.Write([]byte("*1\r\n$4\r\nPING\r\n")); err != nil {
		return fmt.Errorf("ping %s: %w", addr, err)
	}
	answer := make([]byte, 64)
	n, err := conn.Read(answer)
	if err != nil {
		return fmt.Errorf("ping %s: %w", addr, err)
	}
	if line := strings.TrimSpace(string(answer[:n])); line != "+PONG" { // as "-LOADING …"
		return fmt.Errorf("ping %s: it answered %q", addr, line)
	}
	return nil
}

var versionWord = regexp.MustCompile(`\bv=(\S+)`)

func version(ctx context.Context, path string) (string, error) {
	if path == "" {
		return embeddedVersion(), nil
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", path, err)
	}
	m := versionWord.FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("ask %s for its version: it answered %q", path, out)
	}
	return "redis-server " + string(m[1]), nil
}

// wipe removes everything but the configuration.
func wipe(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("wipe: %w", err)
	}
	for _, e := range entries {
		if e.Name() == configFile { // it isn't data
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("wipe: %w", err)
		}
	}
	return nil
}
