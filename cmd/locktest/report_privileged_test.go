//go:build privileged

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/locktest/locktest/runner"
)

// mountedHere mounts something at a folder of its own, until the test ends.
func mountedHere(t *testing.T, source, kind string, flags uintptr, data string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount(source, dir, kind, flags, data); err != nil {
		t.Fatalf("mount %s: %v", kind, err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

// TestPrivilegedPageWithoutRoom: where the page can't be written, on a full disk or a read-only one, verdict, JSON and exit
// status are as ever, and a line says what is missing.
func TestPrivilegedPageWithoutRoom(t *testing.T) {
	full := mountedHere(t, "tmpfs", "tmpfs", 0, "size=1m")
	if err := os.WriteFile(filepath.Join(full, "filler"), make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	solid := mountedHere(t, t.TempDir(), "", syscall.MS_BIND, "")
	if err := syscall.Mount("", solid, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	dir, good := ran(t)
	for name, place := range map[string]struct{ dir, words string }{"full": {full, "no space left on device"}, "read-only": {solid, "read-only file system"}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(place.dir, "page.html")
			root := t.TempDir()
			r := locktest(t, append(violating(t), "--run-dir", root, "-o", "html="+path)...)
			if r.status != runner.ExitViolated || r.status != good.status || !strings.Contains(r.stderr, "the html report is missing: ") || !strings.Contains(r.stderr, place.words) {
				t.Errorf("run: status %d: %s", r.status, r.stderr)
			}
			if text := read(t, filepath.Join(root, "latest", runner.ResultFile)); !strings.Contains(text, `"word": "VIOLATED"`) || !strings.Contains(text, `"exit": 1`) {
				t.Errorf("result.json: %s", text)
			}
			r = locktest(t, "report", dir, "-o", path, "--cross-check", "off")
			if r.status != exitEnvironment || !strings.Contains(r.stderr, "the page is missing: ") || !strings.Contains(r.stderr, place.words) {
				t.Errorf("report: status %d: %s", r.status, r.stderr)
			}
			if left, _ := filepath.Glob(filepath.Join(place.dir, "*page*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}
