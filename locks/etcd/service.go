package etcd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/wire"
)

// ChildArg is the first argument under which a program with this service's server in it is that server.
const ChildArg = "__etcd"

const (
	peerPort = "peer"
	dataDir  = "data"
	// rejoined marks a folder whose node is a new member of an old cluster.
	rejoined = "rejoined"
)

// Service is an etcd server, alone or as one of three: a part of this program, of version embedded, or a binary of its own.
//
// Elections are fast, so that a failover fits into a short run: a heartbeat of 50 ms, an election after 500 ms. A lease can
// then be as short as a second. The option "fsync" is off unless said otherwise: processes are killed here, machines aren't.
func Service(embedded func() string) cluster.Service {
	return cluster.Service{
		Name:     "etcd",
		Binary:   "etcd",
		Env:      "LOCKTEST_ETCD",
		Hint:     []string{"install etcd 3.5 or later from https://github.com/etcd-io/etcd/releases"},
		Nodes:    3,
		Options:  map[string][]string{"fsync": {"no", "yes"}},
		Child:    ChildArg,
		Ports:    []string{peerPort},
		Peering:  &cluster.Peering{Ports: []string{peerPort}, Names: true},
		Command:  command,
		Ready:    listens,
		Formed:   formed,
		Wipe:     wipe,
		Rejoin:   rejoin,
		Leaders:  leaders,
		Replicas: followers,
		Promote:  promote,
		Time:     clock,
		Residue:  residue,
		Version: func(ctx context.Context, path string) (string, error) {
			if path == "" {
				return "etcd " + embedded(), nil
			}
			return version(ctx, path)
		},

		Protocol: wire.HTTP2,
		Expire:   expire,
	}
}

func command(c cluster.NodeConfig) (argv, env []string) {
	client := "http://" + net.JoinHostPort(c.Host, strconv.Itoa(c.Port))
	listen := "http://" + net.JoinHostPort(c.Host, strconv.Itoa(c.Ports[peerPort]))
	state := "new"
	if _, err := os.Stat(filepath.Join(c.Dir, rejoined)); err == nil {
		state = "existing"
	}
	argv = []string{
		"--name", c.Name, "--data-dir", filepath.Join(c.Dir, dataDir),
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", listen, "--initial-advertise-peer-urls", peerURL(c, c.Name),
		"--initial-cluster", initialCluster(c), "--initial-cluster-state", state, "--initial-cluster-token", "locktest",
		"--heartbeat-interval", "50", "--election-timeout", "500",
		// A node that comes back empty is a member removed and another added, while the rest may still be electing.
		"--strict-reconfig-check=false",
		"--logger", "zap", "--log-outputs", "stderr", "--log-level", "warn",
	}
	if c.Options["fsync"] != "yes" {
		argv = append(argv, "--unsafe-no-fsync")
	}
	return argv, nil
}

// peerURL is the same for everybody, as etcd wants it: members are known by their URLs.
func peerURL(c cluster.NodeConfig, node string) string {
	if addr := c.Peer(node, peerPort); addr != "" {
		return "http://" + addr
	}
	return "http://" + net.JoinHostPort(c.Host, strconv.Itoa(c.Ports[peerPort]))
}

func initialCluster(c cluster.NodeConfig) string {
	members := []string{c.Name + "=" + peerURL(c, c.Name)}
	for _, p := range c.Peers {
		if p.Name != c.Name {
			members = append(members, p.Name+"="+peerURL(c, p.Name))
		}
	}
	return strings.Join(members, ",")
}

// listens is all that can be said of a single member: it answers only while it has a quorum.
func listens(ctx context.Context, addr string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return conn.Close()
}

// formed wants every member to be healthy, which it is once it has a leader and can carry out a read.
func formed(ctx context.Context, addrs map[string]string) error {
	leader := ""
	for _, name := range slices.Sorted(maps.Keys(addrs)) {
		if err := healthy(ctx, addrs[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s, err := memberStatus(ctx, addrs[name])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if leader == "" {
			leader = s.Leader
		}
		if s.Leader != leader || leader == "0" {
			return fmt.Errorf("%s follows %s, another one %s", name, s.Leader, leader)
		}
	}
	return nil
}

func wipe(dir string) error {
	return errors.Join(os.RemoveAll(filepath.Join(dir, dataDir)), os.RemoveAll(filepath.Join(dir, rejoined)))
}

var versionLine = regexp.MustCompile(`etcd Version: (\S+)`)

func version(ctx context.Context, path string) (string, error) {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", path, err)
	}
	m := versionLine.FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("ask %s for its version: it answered %q", path, out)
	}
	return "etcd " + string(m[1]), nil
}
