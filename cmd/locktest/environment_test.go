package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const onRedis = "lock: { use: redis/single, ttl: 1s }\nworkload: { use: counter, hold: 1ms..5ms }\n"

// says checks a status and that the error has each of the words.
func says(t *testing.T, r result, status int, words ...string) {
	t.Helper()
	if r.status != status {
		t.Errorf("status %d, want %d", r.status, status)
	}
	for _, w := range words {
		if !strings.Contains(r.stderr, w) {
			t.Errorf("it doesn't say %q", w)
		}
	}
	if t.Failed() {
		t.Logf("%s\n%s", r.stdout, r.stderr)
	}
}

func TestMissingBinary(t *testing.T) {
	t.Setenv("LOCKTEST_REDIS_SERVER", "/nowhere/redis-server")
	r := locktest(t, "run", scenario(t, onRedis), "--on", "process", "--run-dir", t.TempDir())
	says(t, r, 69, "LT101", "redis-server was not found", "needed by: redis/single", "LOCKTEST_REDIS_SERVER=/nowhere/redis-server", "apt install redis-server", "--on embedded")
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	r := locktest(t, "run", scenario(t, onRedis), "--set", fmt.Sprintf("cluster.base_port=%d", port), "--run-dir", t.TempDir())
	says(t, r, 69, "LT102", fmt.Sprintf("port %d is in use", port), fmt.Sprintf("pid %d", os.Getpid()))
}

func TestServerDiesAtStart(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "redis-server")
	if err := os.WriteFile(bin, []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo v=1.2.3 && exit\necho \"Fatal error, can't open config file\"\nexit 7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LOCKTEST_REDIS_SERVER", bin)
	r := locktest(t, "run", scenario(t, onRedis), "--run-dir", t.TempDir())
	says(t, r, 69, "LT103", "n1", "status 7", "Fatal error, can't open config file")
}

func TestEmbeddedSaysSo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := locktest(t, "run", scenario(t, onRedis), "--run-dir", t.TempDir())
	if r.status != 0 || !strings.Contains(r.stdout, "embedded") || !strings.Contains(r.stderr, "embedded") {
		t.Errorf("status %d\n%s\n%s", r.status, r.stdout, r.stderr)
	}
}

// A setting that names no program is told; nothing else is taken instead.
func TestWrongSettingIsTold(t *testing.T) {
	t.Setenv("LOCKTEST_REDIS_SERVER", "/nowhere/redis-server")
	r := locktest(t, "run", scenario(t, onRedis), "--run-dir", t.TempDir())
	says(t, r, 69, "LT101", "LOCKTEST_REDIS_SERVER=/nowhere/redis-server")
}
