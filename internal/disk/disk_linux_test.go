package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/locktest/locktest/internal/disk"
)

// Where no disk is mounted nothing is frozen, which would be the whole machine's, and there is nothing to thaw or remove.
func TestPlainFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "n1")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := disk.Freeze(dir); err == nil {
		t.Error("a plain folder was frozen")
	}
	if err := disk.Thaw(dir); err != nil {
		t.Error(err)
	}
	if err := disk.Remove(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("the folder is gone: %v", err)
	}
}

func TestPathsAreWhole(t *testing.T) {
	for _, dir := range []string{"n1", "/tmp/../n1", "/tmp/a b", "/tmp/n1/", `/tmp/a\b`} {
		if disk.Make(t.Context(), dir) == nil || disk.Remove(dir) == nil {
			t.Errorf("%q is taken", dir)
		}
	}
}
