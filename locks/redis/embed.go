package redis

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"strconv"
	"sync"

	"github.com/alicebob/miniredis/v2"

	"github.com/locktest/locktest/cluster"
)

// embedded is miniredis behind a listener of ours, so that a pause can hold what is sent, in both directions and in the
// kernel's buffers, and a stop while it is paused loses it, as with a real process.
type embedded struct {
	addr string

	mu     sync.Mutex
	server *miniredis.Miniredis
	front  *front // nil while it is stopped
}

func embed(_ context.Context, c cluster.NodeConfig) (cluster.Embedded, error) {
	e := &embedded{addr: net.JoinHostPort(c.Host, strconv.Itoa(c.Port)), server: newServer()}
	if err := e.Start(); err != nil {
		return nil, err
	}
	return e, nil
}

// newServer returns one whose TTLs follow the clock, which miniredis leaves to its users otherwise.
func newServer() *miniredis.Miniredis {
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	return m
}

func (e *embedded) Start() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.front != nil {
		return errors.New("start miniredis: it runs already")
	}
	l, err := net.Listen("tcp", e.addr)
	if err != nil {
		return fmt.Errorf("start miniredis: %w", err)
	}
	if err := revive(e.server); err != nil {
		l.Close()
		return fmt.Errorf("start miniredis: %w", err)
	}
	e.front = newFront(l, e.server.Dial)
	return nil
}

func (e *embedded) Stop() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.front == nil {
		return nil
	}
	e.front.close()
	e.front = nil
	e.server.Close()
	return nil
}

// Close is Stop: what is left is memory.
func (e *embedded) Close() error { return e.Stop() }

func (e *embedded) Reset() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.front != nil {
		return errors.New("reset miniredis: it runs")
	}
	e.server = newServer()
	return nil
}

func (e *embedded) Pause() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.front == nil {
		return errors.New("pause miniredis: it is stopped")
	}
	e.front.gate.shut()
	return nil
}

func (e *embedded) Resume() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.front != nil {
		e.front.gate.open()
	}
	return nil
}

// revive makes a new or closed server serve: Close has ended its context, without which blocking commands never answer
// again, and a real server has lost its scripts.
func revive(m *miniredis.Miniredis) error {
	m.Lock()
	m.CtxCancel()
	m.Ctx, m.CtxCancel = context.WithCancel(context.Background())
	m.Unlock()
	conn, err := m.Dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "*2\r\n$6\r\nSCRIPT\r\n$5\r\nFLUSH\r\n"); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && line != "+OK\r\n" {
		err = fmt.Errorf("forget scripts: it answered %q", line)
	}
	return err
}

func embeddedVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/alicebob/miniredis/v2" {
				return "miniredis " + m.Version
			}
		}
	}
	return "miniredis"
}
