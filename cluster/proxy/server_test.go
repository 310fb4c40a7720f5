package proxy_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/proxy"
)

// limit is how long anything may take that is to happen; quiet, how long nothing may happen where nothing is to.
const (
	limit = 20 * time.Second
	quiet = 100 * time.Millisecond
)

// server answers each line with "re " and the line, and keeps what it got.
type server struct {
	name     string
	listener net.Listener
	gone     sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	got   map[string]bool
	ends  int // connections that came to their end
	all   int // connections ever
}

func (s *server) Name() string { return s.name }
func (s *server) Addr() string { return s.listener.Addr().String() }

func newServer(t testing.TB, name string) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{name: name, listener: l, conns: map[net.Conn]struct{}{}, got: map[string]bool{}}
	s.gone.Go(s.accept)
	t.Cleanup(s.stop)
	return s
}

func (s *server) stop() {
	s.listener.Close()
	s.mu.Lock()
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.gone.Wait()
}

func (s *server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[conn] = struct{}{}
		s.all++
		s.mu.Unlock()
		s.gone.Go(func() { s.serve(conn) })
	}
}

func (s *server) serve(conn net.Conn) {
	defer conn.Close()
	for in := bufio.NewScanner(conn); in.Scan(); {
		s.mu.Lock()
		s.got[in.Text()] = true
		s.mu.Unlock()
		if _, err := fmt.Fprintln(conn, "re", in.Text()); err != nil {
			break
		}
	}
	s.mu.Lock()
	s.ends++
	delete(s.conns, conn)
	s.mu.Unlock()
}

func (s *server) has(line string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got[line]
}

func (s *server) ended() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ends
}

func (s *server) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// newNetwork is for clients c1, c2 and so on.
func newNetwork(t *testing.T, clients int, nodes ...cluster.Node) *proxy.Network {
	t.Helper()
	o := proxy.Options{Nodes: nodes, Rand: rand.New(rand.NewPCG(1, 2))}
	for i := range clients {
		o.Clients = append(o.Clients, fmt.Sprintf("c%d", i+1))
	}
	n, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return n
}

// client is one connection.
type client struct {
	net.Conn
	in *bufio.Reader
}

func connect(addr string) (*client, error) {
	conn, err := net.DialTimeout("tcp", addr, limit)
	if err != nil {
		return nil, err
	}
	return &client{conn, bufio.NewReader(conn)}, nil
}

func mustConnect(t *testing.T, n *proxy.Network) *client {
	t.Helper()
	c, err := connect(n.Addr("c1", "n1"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func (c *client) send(t *testing.T, line string) {
	t.Helper()
	if _, err := fmt.Fprintln(c, line); err != nil {
		t.Fatal(err)
	}
}

func (c *client) receive(within time.Duration) (string, error) {
	c.SetReadDeadline(time.Now().Add(within))
	line, err := c.in.ReadString('\n')
	return line, err
}

func (c *client) wantReply(t *testing.T, line string) {
	t.Helper()
	got, err := c.receive(limit)
	if want := "re " + line + "\n"; got != want || err != nil {
		t.Fatalf("received %q (%v), want %q", got, err, want)
	}
}

func (c *client) wantSilence(t *testing.T) {
	t.Helper()
	got, err := c.receive(quiet)
	if !isTimeout(err) {
		t.Fatalf("received %q (%v), want nothing", got, err)
	}
}

// wantEnd also wants no byte before the end.
func (c *client) wantEnd(t *testing.T) {
	t.Helper()
	got, err := c.receive(limit)
	if got != "" || err == nil || isTimeout(err) {
		t.Fatalf("received %q (%v), want the connection's end", got, err)
	}
}

func (c *client) wantReset(t *testing.T) {
	t.Helper()
	if got, err := c.receive(limit); got != "" || !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("received %q (%v), want a reset", got, err)
	}
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) }

func set(t *testing.T, n *proxy.Network, c cluster.Condition, links ...cluster.Link) {
	t.Helper()
	if err := n.Set(context.Background(), c, links...); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatalf("not within %v: %s", limit, what)
}
