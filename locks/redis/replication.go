package redis

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/cluster"
)

// configFile is in a node's folder where servers write their roles into it, so that a node comes back as what it was last.
const configFile = "redis.conf"

// ReplicatedService is a primary, n1, and replicas of it. Nobody but Promote makes another node the primary.
func ReplicatedService() cluster.Service {
	s := Service()
	s.Nodes = 3
	s.Embed = nil
	s.Version = processVersion
	s.Peering = &cluster.Peering{Ports: []string{cluster.ClientPort}, Names: true, Patience: dialPatience}
	s.Prepare = func(_ context.Context, c cluster.NodeConfig) error { return configure(c, c.Nodes) }
	s.Command = func(c cluster.NodeConfig) (argv, env []string) {
		return []string{filepath.Join(c.Dir, configFile)}, nil
	}
	s.Ready = replicaReady
	s.Leaders = leaders
	s.Replicas = replicas
	s.Promote = promote
	s.Following, s.Follow = cluster.ByCommand, demote
	return s
}

// dialPatience lets a replica reach a primary that starts at the same time; refused, it would try again after a second.
const dialPatience = 1500 * time.Millisecond

// configure writes a server's first configuration. Later the server itself, or a Sentinel, writes its role into the file.
// The first servers of the cluster, data of them, replicate.
func configure(c cluster.NodeConfig, data int) error {
	path := filepath.Join(c.Dir, configFile)
	if there, err := exists(path); there || err != nil {
		return err
	}
	lines := append(settings(c),
		// From a file on the disk: a replica then counts from its first byte on, and not only from its first report, a second
		// later, so that a WAIT right after the start finds it.
		[]string{"repl-diskless-sync", "no"},
		[]string{"replica-announce-ip", cluster.HostName(c.Name)},
		[]string{"replica-announce-port", strconv.Itoa(c.Port)},
	)
	if c.Index > 0 && c.Index < data {
		lines = append(lines, append([]string{"replicaof"}, peer(c, 0)...))
	}
	return writeConfig(path, lines)
}

// peer is another node's host and port.
func peer(c cluster.NodeConfig, index int) []string {
	host, port, _ := net.SplitHostPort(c.Peers[index].Addrs[cluster.ClientPort])
	return []string{host, port}
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func writeConfig(path string, lines [][]string) error {
	var b strings.Builder
	for _, words := range lines {
		b.WriteString(words[0])
		for _, w := range words[1:] {
			b.WriteString(" " + strconv.Quote(w))
		}
		b.WriteString("\n")
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// processVersion is for servers that can't be embedded.
func processVersion(ctx context.Context, path string) (string, error) {
	if path == "" {
		return "", errors.New("miniredis has no replicas")
	}
	return version(ctx, path)
}

// ask is a connection for one question. Its errors come late at most by askLimit.
func ask[T any](ctx context.Context, addr string, question func(context.Context, *redis.Client) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	if err := ping(ctx, addr); err != nil { // the library writes to standard error where it can't dial
		var none T
		return none, err
	}
	c := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2, MaxRetries: -1, DialerRetries: 1, DisableIdentity: true, ContextTimeoutEnabled: true})
	defer c.Close()
	return question(ctx, c)
}

// askLimit is how long one server may take to answer; a paused one doesn't.
const askLimit = time.Second

// info is a part of what a server tells about itself, by name.
func info(ctx context.Context, addr, section string) (map[string]string, error) {
	text, err := ask(ctx, addr, func(ctx context.Context, c *redis.Client) (string, error) { return c.Info(ctx, section).Result() })
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			out[name] = value
		}
	}
	return out, nil
}

// syncPatience is how long after its start a replica that has not caught up isn't ready. After that it is: its primary may be dead.
const syncPatience = 5

// replicaReady wants a replica to have caught up.
func replicaReady(ctx context.Context, addr string) error {
	r, err := info(ctx, addr, "replication")
	if err != nil || r["role"] != "slave" || r["master_link_status"] == "up" {
		return err
	}
	s, err := info(ctx, addr, "server")
	if err != nil {
		return err
	}
	if up, _ := strconv.Atoi(s["uptime_in_seconds"]); up < syncPatience {
		return errors.New("it has not caught up with its primary")
	}
	return nil
}

func role(ctx context.Context, addr string) (string, error) {
	r, err := info(ctx, addr, "replication")
	return r["role"], err
}

// leaders are the nodes that say that they are primaries.
func leaders(ctx context.Context, addrs map[string]string) ([]string, error) {
	return withRole(ctx, addrs, "master"), ctx.Err()
}

// replicas are the nodes that say that they follow another one.
func replicas(ctx context.Context, addrs map[string]string) ([]string, error) {
	return withRole(ctx, addrs, "slave"), ctx.Err()
}

// withRole asks all nodes at once; who doesn't answer has none.
func withRole(ctx context.Context, addrs map[string]string, want string) []string {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var out []string
	for name, addr := range addrs {
		wg.Go(func() {
			if r, err := role(ctx, addr); err == nil && r == want {
				mu.Lock()
				defer mu.Unlock()
				out = append(out, name)
			}
		})
	}
	wg.Wait()
	slices.Sort(out)
	return out
}

// promote makes a node a primary, and those that are replicas then its replicas. Nobody tells the old primary, which may be
// out of reach: that is what a failover is for.
func promote(ctx context.Context, addrs map[string]string, name string) error {
	addr, ok := addrs[name]
	if !ok {
		return errors.New("it is down")
	}
	if err := follow(ctx, addr, "NO", "ONE"); err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	for _, other := range withRole(ctx, addrs, "slave") {
		if err := follow(ctx, addrs[other], cluster.HostName(name), port); err != nil {
			return fmt.Errorf("make %s follow it: %w", other, err)
		}
	}
	return nil
}

// demote makes a node a replica of leader; what it has and leader hasn't is lost.
func demote(ctx context.Context, addrs map[string]string, name, leader string) error {
	if addrs[name] == "" || addrs[leader] == "" {
		return errors.New("one of them is down")
	}
	_, port, err := net.SplitHostPort(addrs[leader])
	if err != nil {
		return err
	}
	return follow(ctx, addrs[name], cluster.HostName(leader), port)
}

// follow changes a node's role, for its next start too.
func follow(ctx context.Context, addr, host, port string) error {
	_, err := ask(ctx, addr, func(ctx context.Context, c *redis.Client) (string, error) {
		if err := c.SlaveOf(ctx, host, port).Err(); err != nil {
			return "", err
		}
		return c.ConfigRewrite(ctx).Result()
	})
	return err
}

// serverTime is the server's wall clock.
func serverTime(ctx context.Context, addr string) (time.Time, error) {
	return ask(ctx, addr, func(ctx context.Context, c *redis.Client) (time.Time, error) { return c.Time(ctx).Result() })
}
