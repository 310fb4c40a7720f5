package proc_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/locktest/locktest/internal/proc"
)

func TestAnotherUser(t *testing.T) {
	s, err := proc.NewSpawner(proc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p, err := s.Start(proc.Command{Path: "/bin/sh", Args: []string{"-c", "id -u; id -g; id -G"}, Stdout: true, User: proc.Nobody()})
	if os.Getuid() != 0 {
		if err == nil {
			t.Error("who isn't root became somebody else")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(string(out)); strings.Join(got, " ") != "65534 65534 65534" {
		t.Errorf("user, group and groups are %v, want 65534 alone", got)
	}
}
