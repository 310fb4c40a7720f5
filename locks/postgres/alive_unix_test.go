//go:build unix

package postgres

import (
	"io"
	"net"
	"testing"
	"time"
)

func TestSilent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ours, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	theirs, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if is, known := silent(ours); !is || !known {
		t.Errorf("a connection on which nothing has come: %v, %v", is, known)
	}
	theirs.Write([]byte("x"))
	until(t, "what was sent", func() bool { is, known := silent(ours); return !is && known })
	if b, err := io.ReadAll(io.LimitReader(ours, 1)); string(b) != "x" {
		t.Errorf("looking has taken what was sent: %q, %v", b, err)
	}
	if is, _ := silent(ours); !is {
		t.Error("what was read is still there")
	}
	theirs.Close()
	until(t, "the end", func() bool { is, known := silent(ours); return !is && known })
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if _, known := silent(a); known {
		t.Error("a pipe in memory was asked")
	}
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); !is(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%s didn't show", what)
		}
	}
}
