package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/locktest/locktest/cluster"
)

// first is the index of the node that begins as the primary.
func first(c cluster.NodeConfig) int {
	if c.Options[poolerOption] != "" {
		return 1
	}
	return 0
}

// askLimit is how long one server may take to say who it is.
const askLimit = time.Second

// findPrimary looks once for another server that takes writes, and returns where this node reaches it; empty: there is none.
func findPrimary(ctx context.Context, c cluster.NodeConfig) string {
	for i, p := range c.Peers {
		addr := p.Addrs[cluster.ClientPort]
		if i == c.Index || i < first(c) {
			continue
		}
		if yes, err := leads(ctx, addr, false); err == nil && yes {
			return addr
		}
	}
	return ""
}

// awaitPrimary looks until there is one.
func awaitPrimary(ctx context.Context, c cluster.NodeConfig) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, cluster.ReadyLimit)
	defer cancel()
	for {
		if addr := findPrimary(ctx, c); addr != "" {
			return addr, nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("no primary to make a replica of: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// clone makes this node a streaming replica of the server at addr.
func clone(ctx context.Context, c cluster.NodeConfig, addr string) error {
	path, err := tool(c.Binary, "pg_basebackup")
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	err = c.Run(ctx, path, "-h", host, "-p", port, "-U", "postgres", "-D", dataDir(c.Dir), "-R", "-X", "stream", "-c", "fast", "--no-sync")
	if err != nil {
		return errors.Join(err, os.RemoveAll(dataDir(c.Dir)))
	}
	return nil
}

// leads says whether the server at addr takes writes. own asks too whether it is the server itself that listens there, and
// not a pooler in front of it.
func leads(ctx context.Context, addr string, own bool) (bool, error) {
	return holds(ctx, addr, "NOT pg_is_in_recovery()", own)
}

// holds asks the server at addr whether a condition holds; of its own as in leads.
func holds(ctx context.Context, addr, condition string, own bool) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	s, err := askAt(ctx, addr)
	if err != nil {
		return false, err
	}
	defer s.close()
	sql := "SELECT " + condition
	if own {
		_, port, _ := net.SplitHostPort(addr)
		sql += " AND inet_server_port() = " + port
	}
	return s.ask(ctx, sql)
}

// leaders are the servers that take writes. A replica that was promoted and an old primary are two.
func leaders(ctx context.Context, addrs map[string]string) ([]string, error) {
	return where(ctx, addrs, "NOT pg_is_in_recovery()")
}

// replicas are the servers that follow another one.
func replicas(ctx context.Context, addrs map[string]string) ([]string, error) {
	return where(ctx, addrs, "pg_is_in_recovery()")
}

// where asks all nodes at once for those whose own server a condition holds of; who doesn't answer is none.
func where(ctx context.Context, addrs map[string]string, condition string) ([]string, error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var out []string
	for name, addr := range addrs {
		wg.Go(func() {
			if yes, err := holds(ctx, addr, condition, true); err == nil && yes {
				mu.Lock()
				defer mu.Unlock()
				out = append(out, name)
			}
		})
	}
	wg.Wait()
	slices.Sort(out)
	return out, ctx.Err()
}

// promoteLimit is how long a replica may take to become a primary.
const promoteLimit = 30 * time.Second

// promote ends a replica's recovery. Nobody tells the old primary.
func promote(ctx context.Context, addrs map[string]string, name string) error {
	addr, ok := addrs[name]
	if !ok {
		return errors.New("it is down")
	}
	s, err := askAt(ctx, addr)
	if err != nil {
		return err
	}
	defer s.close()
	if waiting, err := s.ask(ctx, "SELECT pg_is_in_recovery()"); err != nil || !waiting {
		return err // a primary already
	}
	done, err := s.ask(ctx, fmt.Sprintf("SELECT pg_promote(true, %d)", int(promoteLimit.Seconds())))
	if err == nil && !done {
		return fmt.Errorf("it is no primary after %v", promoteLimit)
	}
	return err
}

// clock is the server's time; a pooler has none to tell.
func clock(ctx context.Context, addr string) (time.Time, error) {
	s, err := askAt(ctx, addr)
	if err != nil {
		return time.Time{}, err
	}
	defer s.close()
	rows, err := s.exec(ctx, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, inet_server_port()")
	if err != nil {
		return time.Time{}, err
	}
	if _, port, _ := net.SplitHostPort(addr); string(rows[0][1]) != port {
		return time.Time{}, errors.New("a pooler tells no time")
	}
	us, err := strconv.ParseInt(string(rows[0][0]), 10, 64)
	return time.UnixMicro(us), err
}
