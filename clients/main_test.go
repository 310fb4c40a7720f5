package clients

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/internal/proc"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/memory"
)

// The test binary is also the client: how it behaves is told by this variable.
const behaviour = "LOCKTEST_TEST_CLIENT"

func TestMain(m *testing.M) {
	switch os.Getenv(behaviour) {
	case "":
		os.Exit(m.Run())
	case "good":
		serve(os.Stdin)
	case "tells of waits":
		serveAs(os.Stdin, func(c locks.Client) locks.Client { return telling{c} })
	case "rubbish":
		fmt.Println("DEBUG connecting")
		fmt.Println(`{"neither":"nor"}`)
		serve(os.Stdin)
	case "refuses":
		if err := Serve(context.Background(), os.Stdin, os.Stdout, func(context.Context, string, map[string]any) (locks.Client, error) {
			return nil, fmt.Errorf("no such lock")
		}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "dies":
		fmt.Fprintln(os.Stderr, "connection refused, giving up")
		os.Exit(3)
	case "dies later":
		serve(io.LimitReader(os.Stdin, 1<<10)) // reads hello and some requests, then leaves
		os.Exit(4)
	}
}

func serve(in io.Reader) {
	serveAs(in, func(c locks.Client) locks.Client { return c })
}

func serveAs(in io.Reader, as func(locks.Client) locks.Client) {
	provider := memory.NewLease()
	err := Serve(context.Background(), in, os.Stdout, func(ctx context.Context, name string, _ map[string]any) (locks.Client, error) {
		c, err := provider.Open(ctx, locks.Target{Client: name})
		return as(c), err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// telling prints a line that is no message once an acquire that may wait has come to the lock: then it is open for certain.
type telling struct{ locks.Client }

func (c telling) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	if r.Wait > 0 {
		fmt.Println("an acquire may wait")
	}
	return c.Client.Acquire(ctx, r)
}

func config(t *testing.T, how string, tell func(Event)) ProcessConfig {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return ProcessConfig{Name: "c1", Spawner: clustertest.Spawner(t), Command: proc.Command{Path: self, Env: []string{behaviour + "=" + how}}, Tell: tell, Log: slog.New(slog.DiscardHandler),
		Stderr: filepath.Join(dir, "c1.stderr"), Stdout: filepath.Join(dir, "c1.stdout"), Options: map[string]any{"stall_ms": 50.0}}
}

func startGood(t *testing.T, tell func(Event)) *Process {
	t.Helper()
	return startAs(t, "good", tell)
}

func startAs(t *testing.T, how string, tell func(Event)) *Process {
	t.Helper()
	p, err := StartProcess(t.Context(), config(t, how, tell))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// answer is what Do returned.
type answer struct {
	reply Reply
	err   error
}

// open sends a request that has to wait, to a client that tells of waits, and returns once it does.
func open(t *testing.T, p *Process, r Request) <-chan answer {
	t.Helper()
	before, got := p.Rubbish(), make(chan answer, 1)
	go func() {
		reply, err := p.Do(context.Background(), r)
		got <- answer{reply, err}
	}()
	within(t, "the request is open", func() bool { return p.Rubbish() > before })
	return got
}

// soon wants the answer of an open request within 10 s.
func soon(t *testing.T, got <-chan answer) answer {
	t.Helper()
	select {
	case a := <-got:
		return a
	case <-time.After(10 * time.Second):
		t.Fatal("an open request is not answered within 10 s")
		return answer{}
	}
}

// within polls until ok, for at most 10 s.
func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if ok() {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
	t.Fatalf("%s: not within 10 s", what)
}
