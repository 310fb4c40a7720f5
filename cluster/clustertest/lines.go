package clustertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/locktest/locktest/cluster"
)

// LineServerEnv, set to anything, makes a test binary that calls MainIfServer be a line server.
const LineServerEnv = "LOCKTEST_LINE_SERVER"

// LineService is a server of the kit's own, for tests that can't rely on a real one: the test binary at path, started
// again. It answers "ping", "put KEY VALUE" and "get KEY", one line each, and keeps its data in a file.
//
// Its option "mode" makes it misbehave: "exit" ends it at once with status 3 and a message, "deaf" keeps it from listening.
func LineService(path string) cluster.Service {
	return cluster.Service{
		Name:    "lines",
		Binary:  path,
		Env:     "LOCKTEST_LINES",
		Hint:    []string{"run the tests"},
		Nodes:   2,
		Options: map[string][]string{"mode": {"", "exit", "deaf"}},
		Command: func(c cluster.NodeConfig) (argv, env []string) {
			addr := net.JoinHostPort(c.Host, fmt.Sprint(c.Port))
			return []string{addr, filepath.Join(c.Dir, "data"), c.Options["mode"]}, []string{LineServerEnv + "=1"}
		},
		Ready: func(ctx context.Context, addr string) error {
			_, err := askLine(ctx, addr, "ping")
			return err
		},
		Version: func(context.Context, string) (string, error) { return "lines 1", nil },
		Wipe:    func(dir string) error { return os.RemoveAll(filepath.Join(dir, "data")) },
	}
}

// PutLine and GetLine are a Kit's Put and Get for a line server.
func PutLine(ctx context.Context, addr, key, value string) error {
	_, err := askLine(ctx, addr, "put "+key+" "+value)
	return err
}

// GetLine asks a line server for a key.
func GetLine(ctx context.Context, addr, key string) (value string, ok bool, err error) {
	value, err = askLine(ctx, addr, "get "+key)
	return value, value != "", err
}

// MainIfServer is to be called by TestMain before anything else: in a process that was started as a line server it
// serves, and never returns.
func MainIfServer() {
	if os.Getenv(LineServerEnv) == "" {
		return
	}
	if err := serveLines(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "line server:", err)
		os.Exit(3)
	}
	os.Exit(0)
}

type lineServer struct {
	mu   sync.Mutex
	file string
	data map[string]string
}

func serveLines(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("%d arguments, want ADDR FILE MODE", len(args))
	}
	switch args[2] {
	case "exit":
		return errors.New("can't open its config file")
	case "deaf":
		select {}
	}
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	s := &lineServer{file: args[1], data: map[string]string{}}
	s.load()
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go s.serve(conn)
	}
}

func (s *lineServer) load() {
	b, err := os.ReadFile(s.file)
	if err != nil {
		return // a new node has none
	}
	for _, line := range strings.Split(string(b), "\n") {
		if key, value, ok := strings.Cut(line, " "); ok {
			s.data[key] = value
		}
	}
}

func (s *lineServer) serve(conn net.Conn) {
	defer conn.Close()
	for in := bufio.NewScanner(conn); in.Scan(); {
		answer, err := s.answer(strings.Fields(in.Text()))
		if err != nil {
			answer = "error " + err.Error()
		}
		if _, err := fmt.Fprintln(conn, answer); err != nil {
			return
		}
	}
}

func (s *lineServer) answer(words []string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(words) == 3 && words[0] == "put":
		s.data[words[1]] = words[2]
		return "", s.store()
	case len(words) == 2 && words[0] == "get":
		return s.data[words[1]], nil
	case len(words) == 1 && words[0] == "ping":
		return "pong", nil
	default:
		return "", fmt.Errorf("unknown request %q", words)
	}
}

func (s *lineServer) store() error {
	var b strings.Builder
	for key, value := range s.data {
		fmt.Fprintf(&b, "%s %s\n", key, value)
	}
	return os.WriteFile(s.file, []byte(b.String()), 0o644)
}

func askLine(ctx context.Context, addr, request string) (string, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := fmt.Fprintln(conn, request); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("ask %s: %w", addr, err)
	}
	line = strings.TrimSuffix(line, "\n")
	if message, failed := strings.CutPrefix(line, "error "); failed {
		return "", errors.New(message)
	}
	return line, nil
}
