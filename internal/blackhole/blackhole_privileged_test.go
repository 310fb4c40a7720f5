//go:build privileged

package blackhole

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster/clustertest"
)

const patience = 30 * time.Second

// Through a hole nothing comes, new connections neither; healed, what was sent arrives by retransmission.
func TestPrivilegedHole(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	if err := Supported(); err != nil {
		t.Fatal(err)
	}
	echo, other := echoes(t), echoes(t)
	conn, beside := dial(t, echo), dial(t, other)
	h, err := Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close(context.Background()) })
	say(t, conn, "before", patience)
	for range 2 {
		if err := h.Drop(ctx, Flow{Dest: echo}, Flow{Source: echo}); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(strings.Split(ruleText(t, h.chain), "\n")); got != 4 { // the chain, the way there, two rules
		t.Errorf("%d lines of rules:\n%s", got, ruleText(t, h.chain))
	}
	fmt.Fprint(conn, "x")
	conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%d bytes came (%v)", n, err)
	}
	if c, err := net.DialTimeout("tcp", echo, 200*time.Millisecond); err == nil {
		c.Close()
		t.Error("a new connection was made")
	}
	say(t, beside, "beside", patience)
	dead, end := context.WithCancel(ctx)
	end()
	if err := h.Close(dead); err == nil {
		t.Error("closing under a dead context reported success")
	}
	for range 2 {
		if err := h.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
	conn.SetReadDeadline(time.Now().Add(patience))
	if b := make([]byte, 1); read(conn, b) != nil || b[0] != 'x' {
		t.Errorf("what was sent meanwhile came back as %q", b)
	}
	if text := ruleText(t, h.chain); text != "" {
		t.Errorf("left:\n%s", text)
	}
	if err := h.Drop(ctx, Flow{Dest: echo}); err == nil {
		t.Error("a closed hole takes flows")
	}
}

// What a dead process left is removed, what a living one has is not.
func TestPrivilegedClean(t *testing.T) {
	ctx := context.Background()
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	start, err := began(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	left := fmt.Sprintf("%s%d-%s-0", prefix, child.Process.Pid, start)
	if err := restore(ctx, ":"+left+" - [0:0]", "-I INPUT 1 -i lo -j "+left); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(ctx, left) })
	mine, err := Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mine.Close(ctx) })
	if removed, err := Clean(ctx); err != nil || slices.Contains(removed, left) || slices.Contains(removed, mine.chain) {
		t.Errorf("while both live: removed %v, %v", removed, err)
	}
	child.Process.Kill()
	child.Wait()
	if removed, err := Clean(ctx); err != nil || !slices.Contains(removed, left) || slices.Contains(removed, mine.chain) {
		t.Errorf("after one died: removed %v, %v", removed, err)
	}
	if text := ruleText(t, left); text != "" {
		t.Errorf("left:\n%s", text)
	}
}

// echoes returns the address of a server that sends back what it gets.
func echoes(t *testing.T) string {
	t.Helper()
	return clustertest.Serve(t, func(c net.Conn) { io.Copy(c, c) })
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func say(t *testing.T, c net.Conn, word string, within time.Duration) {
	t.Helper()
	c.SetDeadline(time.Now().Add(within))
	fmt.Fprint(c, word)
	b := make([]byte, len(word))
	if err := read(c, b); err != nil || string(b) != word {
		t.Fatalf("%q came back as %q, %v", word, b, err)
	}
}

func read(c net.Conn, b []byte) error {
	for n := 0; n < len(b); {
		k, err := c.Read(b[n:])
		if err != nil {
			return err
		}
		n += k
	}
	return nil
}

// ruleText is each line about a chain.
func ruleText(t *testing.T, chain string) string {
	t.Helper()
	all, err := rules(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(all) {
		if strings.Contains(line, chain) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.Join(lines, "\n")
}
