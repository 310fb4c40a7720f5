//go:build privileged

package catalog_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/internal/disk"
	"github.com/locktest/locktest/internal/proc"
)

// A dead run's disk that is frozen, with a process that waits for it, goes like everything else.
func TestPrivilegedCleanOfAFrozenDisk(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
	dir := filepath.Join(tmp, strings.Replace(proc.TempName(), proc.OwnIdent(), deadIdent(t), 1)+"1", "n1")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := disk.Make(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Thaw(dir); disk.Remove(dir) })
	if err := disk.Freeze(dir); err != nil {
		t.Fatal(err)
	}
	writer := exec.Command("sh", "-c", "echo x >file; exec sleep 600")
	writer.Dir = dir
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- writer.Wait() }()
	removed, err := catalog.Clean(t.Context())
	if err != nil {
		t.Fatalf("%v (removed: %v)", err, removed)
	}
	if err := <-ended; err == nil {
		t.Error("the process ended by itself")
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if mounted, err := disk.Mounted(dir); err != nil || mounted {
		t.Errorf("the disk is mounted: %v, %v", mounted, err)
	}
	if len(removed) != 2 {
		t.Errorf("removed: %v, want a process and a folder", removed)
	}
}

// deadIdent is that of a process which has ended.
func deadIdent(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ident := proc.Ident(cmd.Process.Pid)
	cmd.Process.Kill()
	cmd.Wait()
	return ident
}
