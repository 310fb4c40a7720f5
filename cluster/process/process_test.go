//go:build unix

package process_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/internal/ports"
)

func TestMain(m *testing.M) {
	clustertest.MainIfServer()
	os.Exit(m.Run())
}

func service(t *testing.T) cluster.Service {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return clustertest.LineService(self)
}

func newCluster(t *testing.T, o process.Options) *process.Cluster {
	t.Helper()
	o.Service, o.Spawner = service(t), clustertest.Spawner(t)
	if o.LogDir == "" {
		o.LogDir = t.TempDir()
	}
	c, err := process.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return c
}

func TestConformance(t *testing.T) {
	clustertest.Run(t, clustertest.Kit{
		New:       func(t *testing.T) cluster.Cluster { return newCluster(t, process.Options{Nodes: 3}) },
		Put:       clustertest.PutLine,
		Get:       clustertest.GetLine,
		KeepsData: true,
	})
}

func TestFindNamesWhereItLooked(t *testing.T) {
	svc := cluster.Service{
		Name: "x", Binary: "no-such-server", Env: "LOCKTEST_NO_SUCH_SERVER", Hint: []string{"apt install no-such-server"},
		Command: func(cluster.NodeConfig) (argv, env []string) { return nil, nil },
	}
	tests := []struct{ name, env, want string }{
		{"on PATH", "", "LOCKTEST_NO_SUCH_SERVER (not set)"},
		{"by the variable", "/nonexistent/x", "LOCKTEST_NO_SUCH_SERVER=/nonexistent/x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(svc.Env, tt.env)
			_, err := process.Find(svc)
			e := wantError(t, err, cluster.CodeNoBinary, "no-such-server was not found")
			if !strings.Contains(strings.Join(e.Details, "\n"), tt.want) {
				t.Errorf("details %q, want one with %q", e.Details, tt.want)
			}
			if len(e.Fix) != 1 || e.Fix[0] != svc.Hint[0] {
				t.Errorf("fix %q, want the service's hint", e.Fix)
			}
		})
	}
	t.Run("found by the variable", func(t *testing.T) {
		t.Setenv(svc.Env, "/bin/sh")
		path, err := process.Find(svc)
		if err != nil || path != "/bin/sh" {
			t.Errorf("Find() = %q, %v", path, err)
		}
	})
}

func TestServerThatDiesAtStart(t *testing.T) {
	c := newCluster(t, process.Options{Server: map[string]string{"mode": "exit"}})
	err := c.Start(context.Background())
	e := wantError(t, err, cluster.CodeServerDied, "did not become ready")
	details := strings.Join(e.Details, "\n")
	for _, want := range []string{"command: ", "it exited with status 3; last lines of ", "    line server: can't open its config file"} {
		if !strings.Contains(details, want) {
			t.Errorf("details lack %q:\n%s", want, details)
		}
	}
}

func TestServerThatNeverAnswers(t *testing.T) {
	c := newCluster(t, process.Options{Server: map[string]string{"mode": "deaf"}, Ready: 200 * time.Millisecond})
	err := c.Start(context.Background())
	e := wantError(t, err, cluster.CodeServerDied, "did not become ready in 200ms")
	if details := strings.Join(e.Details, "\n"); !strings.Contains(details, "it runs, but: ") || !strings.Contains(details, "is empty") {
		t.Errorf("details:\n%s", details)
	}
}

func TestPortInUse(t *testing.T) {
	a, err := ports.New("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	base, err := a.Take()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(base)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := newCluster(t, process.Options{Nodes: 1, Server: map[string]string{process.BasePort: strconv.Itoa(base)}})
	e := wantError(t, c.Start(context.Background()), cluster.CodePortInUse, fmt.Sprintf("port %d is in use", base))
	details := strings.Join(e.Details, "\n")
	if !strings.Contains(details, "wanted by: node n1 (the scenario fixes it: base_port is ") {
		t.Errorf("details:\n%s", details)
	}
	if runtime.GOOS == "linux" && !strings.Contains(details, fmt.Sprintf(", pid %d", os.Getpid())) {
		t.Errorf("details don't name this process:\n%s", details)
	}
	if len(e.Fix) != 1 {
		t.Errorf("fix %q", e.Fix)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	tests := []struct {
		name    string
		options map[string]string
		want    string
	}{
		{"unknown", map[string]string{"colour": "red"}, `lines has no option "colour", only mode`},
		{"value", map[string]string{"mode": "odd"}, `option mode is "odd", want`},
		{"port", map[string]string{"base_port": "many"}, `option base_port is "many", want a port`},
		{"port too high", map[string]string{"base_port": "65535"}, `want a port from 1 to`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := process.New(process.Options{Service: service(t), Server: tt.options})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New() = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestTwoClustersAtOnceDoNotCollide(t *testing.T) {
	ctx := context.Background()
	a, b := newCluster(t, process.Options{Nodes: 4}), newCluster(t, process.Options{Nodes: 4})
	errs := make(chan error, 2)
	for _, c := range []*process.Cluster{a, b} {
		go func() { errs <- c.Start(ctx) }()
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for _, n := range append(a.Nodes(), b.Nodes()...) {
		_, text, _ := net.SplitHostPort(n.Addr())
		if port, _ := strconv.Atoi(text); port >= 32768 {
			t.Errorf("node at %s, want a port below the range of source ports", n.Addr())
		}
		if seen[n.Addr()] {
			t.Errorf("two nodes at %s", n.Addr())
		}
		seen[n.Addr()] = true
	}
}

func TestNodeThatEndsByItselfIsReported(t *testing.T) {
	c := newCluster(t, process.Options{Nodes: 1})
	ctx := context.Background()
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	n := c.Nodes()[0]
	watched := n.(cluster.Watched)
	if err := n.(cluster.Killer).Kill(ctx); err != nil {
		t.Fatal(err)
	}
	if err := watched.Failed(); err != nil {
		t.Errorf("after Kill, Failed() = %v", err)
	}
	if err := n.(cluster.Killer).Restart(ctx, cluster.WithData); err != nil {
		t.Fatal(err)
	}
	if err := watched.Failed(); err != nil {
		t.Errorf("while it runs, Failed() = %v", err)
	}
	server, err := os.FindProcess(n.(cluster.Pidded).Pid())
	if err != nil {
		t.Fatal(err)
	}
	server.Signal(os.Kill) // as the system does when memory runs out
	for end := time.Now().Add(10 * time.Second); watched.Failed() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nobody noticed that the node ended")
		}
	}
	wantError(t, watched.Failed(), cluster.CodeServerDied, "n1 ended by itself")
}

func TestCloseRemovesDataAndKeepsLogs(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	logs := filepath.Join(t.TempDir(), "logs")
	c := newCluster(t, process.Options{LogDir: logs})
	if err := c.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got, want := c.Describe(), "lines 1, 2 processes"; got != want {
		t.Errorf("Describe() = %q, want %q", got, want)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for _, n := range c.Nodes() {
		if _, err := os.Stat(n.(cluster.LogFile).LogFile()); err != nil {
			t.Errorf("log: %v", err)
		}
	}
	left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "locktest-*", "n*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func wantError(t *testing.T, err error, code, message string) *cluster.Error {
	t.Helper()
	var e *cluster.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v (%T), want a *cluster.Error", err, err)
	}
	if e.Code != code || !strings.Contains(e.Message, message) {
		t.Errorf("error %s %q, want %s with %q", e.Code, e.Message, code, message)
	}
	return e
}
