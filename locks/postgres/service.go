package postgres

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/wire"
)

// poolerOption puts PgBouncer in front, as n1; the other nodes are PostgreSQL.
const poolerOption = "pooler"

// The values of poolerOption: for how long a client has a server's session for itself.
const (
	poolSession     = "session"
	poolTransaction = "transaction"
)

// keepaliveOption is how soon the server finds out that a client's machine is gone.
const keepaliveOption = "keepalives"

// The values of keepaliveOption.
const (
	keepaliveSystem = "system" // as the system does: after two hours
	keepaliveFast   = "fast"   // after some four seconds: three probes a second apart, or as long without an acknowledgement
)

// Service is PostgreSQL, 15 or later, as processes: a primary, and streaming replicas where there are more nodes. It keeps its
// data over a crash: what it had written is with the operating system, so that it needs no fsync to survive anything that
// can be done to it here.
func Service() cluster.Service {
	return cluster.Service{
		Name:         "postgres",
		Binary:       "postgres",
		Env:          "LOCKTEST_POSTGRES",
		Places:       []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin"},
		Hint:         []string{"apt install postgresql", "brew install postgresql@17"},
		Nodes:        1,
		Options:      map[string][]string{poolerOption: {poolSession, poolTransaction}, keepaliveOption: {keepaliveSystem, keepaliveFast}},
		Unprivileged: true,
		LateTLS:      true,
		Peering:      &cluster.Peering{Ports: []string{cluster.ClientPort}},
		Program:      program,
		Leaders:      leaders,
		Replicas:     replicas,
		Promote:      promote,
		Following:    cluster.ByRestart, // what the old primary wrote alone can't be taken back
		Time:         clock,
		Prepare:      prepare,
		Leave:        leave,
		Command:      command,
		Ready:        ready,
		Version:      version,
		Wipe:         wipe,
		Container:    &cluster.Container{Image: "postgres:15-alpine", Port: 5432, Command: containerCommand},

		Protocol:   wire.Postgres,
		Disconnect: disconnect, Residue: residue,
	}
}

// dataDir is where in a node's folder the server keeps everything; template is that folder as it was after initdb.
func dataDir(dir string) string  { return filepath.Join(dir, "data") }
func template(dir string) string { return filepath.Join(dir, "template") }

func program(c cluster.NodeConfig) (string, error) {
	if isPooler(c) {
		return findPooler()
	}
	return c.Binary, nil
}

func command(c cluster.NodeConfig) (argv, env []string) {
	if isPooler(c) {
		return []string{poolerFile(c.Dir)}, nil
	}
	argv = []string{"-D", dataDir(c.Dir), "-h", c.Host, "-p", strconv.Itoa(c.Port)}
	return append(append(argv, "-c", "unix_socket_directories="), settings(c)...), []string{"LC_ALL=C", "TZ=UTC"} // TCP alone: that goes through links that can fail
}

// containerCommand leaves folders, and the socket by which the image's own script prepares the server, to the image.
func containerCommand(c cluster.NodeConfig) (argv, env []string) {
	return append([]string{"postgres", "-h", c.Host, "-p", strconv.Itoa(c.Port)}, settings(c)...),
		[]string{"POSTGRES_HOST_AUTH_METHOD=trust", "POSTGRES_INITDB_ARGS=--no-locale --encoding=UTF8 --no-sync"}
}

// settings hold wherever it runs.
func settings(c cluster.NodeConfig) []string {
	all := []string{
		"shared_buffers=16MB", "dynamic_shared_memory_type=mmap",
		"fsync=off", "full_page_writes=off", // only for crashes of the machine
		"max_connections=200", "logging_collector=off", "autovacuum=off", "wal_level=replica",
	}
	if c.Options[keepaliveOption] == keepaliveFast {
		all = append(all, "tcp_keepalives_idle=1", "tcp_keepalives_interval=1", "tcp_keepalives_count=3",
			"tcp_user_timeout=4000") // no probe is sent as long as something that was sent isn't acknowledged
	}
	var argv []string
	for _, setting := range all {
		argv = append(argv, "-c", setting)
	}
	return argv
}

// ready asks by a connection of its own.
func ready(ctx context.Context, addr string) error {
	s, err := askAt(ctx, addr)
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := s.exec(ctx, "SELECT 1"); err != nil {
		return fmt.Errorf("ask %s: %w", addr, err)
	}
	return nil
}

// askAt connects to the server at addr as its owner.
func askAt(ctx context.Context, addr string) (*session, error) {
	config, err := connConfig(addr, Options{}.withDefaults())
	if err != nil {
		return nil, err
	}
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	return &session{conn: conn, addr: addr}, nil
}

// oldest is the first version that the locks and the options were tried with.
const oldest = 15

var versionWords = regexp.MustCompile(`\(PostgreSQL\) ((\d+)\S*)`)

func version(ctx context.Context, path string) (string, error) {
	if path == "" {
		return "", errors.New("PostgreSQL is not embedded")
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", path, err)
	}
	m := versionWords.FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("ask %s for its version: it answered %q", path, out)
	}
	if major, err := strconv.Atoi(string(m[2])); err != nil || major < oldest {
		return "", fmt.Errorf("%s is PostgreSQL %s, version %d or later is needed", path, m[1], oldest)
	}
	return "postgres " + string(m[1]), nil
}
