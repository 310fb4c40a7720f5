package clustertest_test

import (
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster/clustertest"
)

func TestConnectionsOfOthersAndOurs(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr := l.Addr().String()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if all, found, err := clustertest.Connections(addr); err != nil || all != 1 || len(found) != 0 {
		t.Errorf("our own connection: %d, direct %v, %v", all, found, err)
	}

	host, port, _ := net.SplitHostPort(addr)
	other := exec.Command("/bin/bash", "-c", "exec 3<>/dev/tcp/"+host+"/"+port+"; exec sleep 60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { other.Process.Kill(); other.Wait() }()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		_, found, err := clustertest.Connections(addr)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 1 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("another process's connection: %v", found)
		}
	}
}

func TestMemory(t *testing.T) {
	alone, err := clustertest.Memory(os.Getpid())
	if err != nil || alone < 1<<20 {
		t.Fatalf("this process has %d bytes, %v", alone, err)
	}
	if _, err := clustertest.Memory(0); err == nil {
		t.Error("process 0 has memory")
	}
}
