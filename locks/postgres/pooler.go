package postgres

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/locktest/locktest/cluster"
)

func isPooler(c cluster.NodeConfig) bool { return c.Index < first(c) }

const poolerEnv = "LOCKTEST_PGBOUNCER"

// findPooler looks where packages put it, which isn't on every PATH.
func findPooler() (string, error) {
	candidates := []string{"pgbouncer", "/usr/sbin/pgbouncer", "/opt/homebrew/bin/pgbouncer"}
	if set := os.Getenv(poolerEnv); set != "" {
		candidates = []string{set}
	}
	for _, name := range candidates {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", &cluster.Error{
		Code:    cluster.CodeNoBinary,
		Message: "pgbouncer was not found",
		Details: []string{fmt.Sprintf("looked in: %v; %s names another", candidates, poolerEnv)},
		Fix:     []string{"apt install pgbouncer", "brew install pgbouncer"},
	}
}

func poolerFile(dir string) string { return filepath.Join(dir, "pgbouncer.ini") }

// preparePooler waits, before the first start, for the server behind: PgBouncer doesn't try again for a second.
func preparePooler(ctx context.Context, c cluster.NodeConfig) error {
	if there, err := exists(poolerFile(c.Dir)); there || err != nil {
		return err
	}
	if c.Nodes > 1 {
		if _, err := awaitPrimary(ctx, c); err != nil {
			return err
		}
	}
	return writePooler(c)
}

// writePooler configures PgBouncer for the node behind it, which it reaches by the link between the two.
func writePooler(c cluster.NodeConfig) error {
	if c.Nodes < 2 {
		return &cluster.Error{Code: cluster.CodeUnhostable, Message: "a pooler alone serves nothing", Fix: []string{"write nodes: 2, of which n1 is the pooler and n2 the server"}}
	}
	host, port, err := net.SplitHostPort(c.Peers[first(c)].Addrs[cluster.ClientPort])
	if err != nil {
		return fmt.Errorf("the server behind the pooler: %w", err)
	}
	text := fmt.Sprintf(`[databases]
* = host=%s port=%s user=postgres

[pgbouncer]
listen_addr = %s
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = %s
max_client_conn = 500
default_pool_size = 50
server_login_retry = 1
ignore_startup_parameters = extra_float_digits
`, host, port, c.Host, c.Port, c.Options[poolerOption])
	return os.WriteFile(poolerFile(c.Dir), []byte(text), 0o644)
}
