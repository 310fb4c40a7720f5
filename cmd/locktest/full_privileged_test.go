//go:build privileged

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mountedOn is a folder with a file system of its own until the test ends.
func mountedOn(t *testing.T, source, kind string, flags uintptr, data string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount(source, dir, kind, flags, data); err != nil {
		t.Fatalf("mount %s: %v", dir, err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

// full is a disk of 1 MB with nothing left on it.
func full(t *testing.T) string {
	t.Helper()
	dir := mountedOn(t, "tmpfs", "tmpfs", 0, "size=1m")
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if !strings.Contains(err.Error(), "no space left") {
		t.Fatal(err)
	}
	return dir
}

// readOnly is a folder that is bind-mounted so that nobody can write there.
func readOnly(t *testing.T) string {
	t.Helper()
	dir := mountedOn(t, t.TempDir(), "", syscall.MS_BIND, "")
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""); err != nil {
		t.Fatalf("remount %s: %v", dir, err)
	}
	return dir
}

// Where the disk of the reports is full or read-only, verdict, JSON and exit status are what they are elsewhere, each report that
// is missing has a line, and no half report is left.
func TestPrivilegedReportsOnABadDisk(t *testing.T) {
	log := broken(t)
	plain := locktest(t, append([]string{"check", "--json"}, log...)...)
	if plain.status != 1 {
		t.Fatalf("status %d\n%s", plain.status, plain.stderr)
	}
	for name, dir := range map[string]string{"full": full(t), "read-only": readOnly(t)} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"check", "--json"}, log...)
			var kinds []string
			for _, k := range (&app{}).reportKinds() {
				kinds = append(kinds, k.name)
				args = append(args, "-o", k.name+"="+filepath.Join(dir, k.name))
			}
			r := locktest(t, args...)
			if r.status != plain.status || r.stdout != plain.stdout {
				t.Errorf("status %d, want %d; the JSON:\n%s", r.status, plain.status, r.stdout)
			}
			for _, kind := range kinds {
				if !strings.Contains(r.stderr, "the "+kind+" report is missing: ") {
					t.Errorf("it isn't told that %s is missing:\n%s", kind, r.stderr)
				}
				if info, err := os.Stat(filepath.Join(dir, kind)); err == nil {
					t.Errorf("%d bytes of %s are left", info.Size(), kind)
				}
			}
		})
	}
}

// A run whose reports can't be written is the same run; its own folder, on another disk, has all that belongs there.
func TestPrivilegedRunWithReportsOnAFullDisk(t *testing.T) {
	dir, bad := t.TempDir(), full(t)
	r := locktest(t, "run", scenario(t, everyone), "--run-dir", dir, "-o", "junit="+filepath.Join(bad, "j.xml"), "--events", filepath.Join(bad, "e.jsonl"), "-q")
	if r.status != 1 || !strings.HasPrefix(r.stdout, "VIOLATED") {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	for _, says := range []string{"the junit report is missing: ", "--events is incomplete: "} {
		if !strings.Contains(r.stderr, says) {
			t.Errorf("%q isn't told:\n%s", says, r.stderr)
		}
	}
	for _, name := range []string{"result.json", "history.jsonl", "violations/1.txt"} {
		if _, err := os.Stat(filepath.Join(dir, "latest", name)); err != nil {
			t.Error(err)
		}
	}
}
