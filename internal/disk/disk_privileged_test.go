//go:build privileged

package disk_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locktest/locktest/internal/disk"
)

func newDisk(t *testing.T) string {
	t.Helper()
	if err := disk.Supported(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "n1")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := disk.Make(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := disk.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// What is written to a frozen disk is there once it is thawed, and not before.
func TestPrivilegedFreeze(t *testing.T) {
	dir := newDisk(t)
	for range 2 {
		if err := disk.Freeze(dir); err != nil {
			t.Fatal(err)
		}
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(filepath.Join(dir, "a"), []byte("x"), 0o644) }()
	select {
	case err := <-written:
		t.Fatalf("a frozen disk took it: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	for range 2 {
		if err := disk.Thaw(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
}

// A frozen disk can be removed, twice, and nothing of it is left.
func TestPrivilegedRemove(t *testing.T) {
	dir := newDisk(t)
	if err := disk.Freeze(dir); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := disk.Remove(dir); err != nil {
			t.Fatal(err)
		}
	}
	if mounted, err := disk.Mounted(dir); mounted || err != nil {
		t.Errorf("Mounted() = %v, %v", mounted, err)
	}
	if _, err := os.Stat(disk.Image(dir)); !os.IsNotExist(err) {
		t.Errorf("its file: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
}
