//go:build unix

package process_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/process"
)

func TestPrepareRunsBeforeEachStartAndLeaveAtTheEnd(t *testing.T) {
	svc := service(t)
	left, prepared := 0, 0
	svc.Prepare = func(ctx context.Context, c cluster.NodeConfig) error {
		prepared++
		return c.Run(ctx, "/bin/sh", "-c", "echo x >>prepared")
	}
	svc.Leave = func(dir string) error {
		left++
		b, err := os.ReadFile(filepath.Join(dir, "prepared"))
		if string(b) != "x\nx\n" {
			t.Errorf("it left %q behind (%v)", b, err)
		}
		return nil
	}
	c, err := process.New(process.Options{Service: svc, Nodes: 1, Spawner: clustertest.Spawner(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	n := c.Nodes()[0].(cluster.Killer)
	if err := n.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n.Restart(t.Context(), cluster.WithData); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if prepared != 2 || left != 1 {
		t.Errorf("prepared %d times and left %d times, want 2 and 1", prepared, left)
	}
}

func TestPrepareThatFailsSaysWhy(t *testing.T) {
	svc := service(t)
	svc.Prepare = func(ctx context.Context, c cluster.NodeConfig) error {
		return c.Run(ctx, "/bin/sh", "-c", "echo no room left >&2; exit 3")
	}
	c, err := process.New(process.Options{Service: svc, Nodes: 1, Spawner: clustertest.Spawner(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "n1") || !strings.Contains(err.Error(), "no room left") {
		t.Errorf("Start() = %v, want the node and what the program said", err)
	}
}

func TestPlacesComeBeforePathAndTheLastFirst(t *testing.T) {
	dir := t.TempDir()
	for _, version := range []string{"14", "15"} {
		if err := os.MkdirAll(filepath.Join(dir, version, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, version, "bin", "sh"), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	svc := service(t)
	svc.Binary, svc.Env, svc.Places = "sh", "", []string{filepath.Join(dir, "*", "bin")}
	if got, err := process.Find(svc); err != nil || got != filepath.Join(dir, "15", "bin", "sh") {
		t.Errorf("Find() = %q, %v", got, err)
	}
	svc.Places = []string{filepath.Join(dir, "none")}
	if got, err := process.Find(svc); err != nil || !strings.HasSuffix(got, "/sh") || strings.HasPrefix(got, dir) {
		t.Errorf("without a match: %q, %v", got, err)
	}
}

func TestUnprivilegedServersRunAsNobody(t *testing.T) {
	if os.Getuid() != 0 {
		return // only root has to become somebody else
	}
	svc := service(t)
	svc.Unprivileged = true
	who := ""
	svc.Prepare = func(ctx context.Context, c cluster.NodeConfig) error {
		if err := c.Run(ctx, "/bin/sh", "-c", "id -u >who"); err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(c.Dir, "who"))
		who = strings.TrimSpace(string(b))
		return err
	}
	// The server itself is this test, in a folder that nobody else may enter: that it can't be started shows who it is.
	c, err := process.New(process.Options{Service: svc, Nodes: 1, Spawner: clustertest.Spawner(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	startErr := c.Start(t.Context())
	if who != "65534" {
		t.Errorf("it runs as %q (%v)", who, startErr)
	}
}

func TestProgramOfANode(t *testing.T) {
	svc := service(t)
	own, asked := filepath.Join(t.TempDir(), "own"), 0
	binary, err := process.Find(svc)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binary, own); err != nil {
		t.Fatal(err)
	}
	svc.Program = func(c cluster.NodeConfig) (string, error) {
		asked++
		return own, nil
	}
	c, err := process.New(process.Options{Service: svc, Nodes: 1, Spawner: clustertest.Spawner(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", c.Nodes()[0].(cluster.Pidded).Pid())); runtime.GOOS == "linux" && !strings.HasPrefix(string(line), own) || asked != 1 {
		t.Errorf("it runs %q (%v), want %s", line, err, own)
	}
}

// A node that waits for one that can't start isn't waited for, and the error is the other one's.
func TestStartTellsTheFirstError(t *testing.T) {
	svc := service(t)
	svc.Prepare = func(ctx context.Context, c cluster.NodeConfig) error {
		if c.Index == 1 {
			return errors.New("no room")
		}
		<-ctx.Done()
		return ctx.Err()
	}
	c, err := process.New(process.Options{Service: svc, Nodes: 3, Spawner: clustertest.Spawner(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "prepare node n2: no room") {
		t.Errorf("Start() = %v", err)
	}
}
