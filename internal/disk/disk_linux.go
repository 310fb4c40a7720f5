package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Requests of ioctl(2), from linux/fs.h and linux/loop.h.
const (
	fiFreeze    = 0xc0045877
	fiThaw      = 0xc0045878
	loopGetFree = 0x4c82
)

// Supported says what this machine lacks; nil if it can do it.
func Supported() error {
	if os.Getuid() != 0 {
		return errors.New("only root can mount a disk and freeze it")
	}
	for _, program := range []string{"mkfs.ext4", "mount"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s was not found (apt install e2fsprogs mount)", program)
		}
	}
	return loops()
}

func loops() error {
	f, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("no loop devices here: %w", err)
	}
	defer f.Close()
	n, err := unix.IoctlRetInt(int(f.Fd()), loopGetFree)
	if err != nil {
		return fmt.Errorf("no loop device is to be had: %w", err)
	}
	if _, err := os.Stat(fmt.Sprintf("/dev/loop%d", n)); err != nil {
		return fmt.Errorf("no loop device is to be had: %w", err)
	}
	return nil
}

// Make mounts a new ext4 on dir, an empty folder. On an error it has undone what it did. Remove ends it.
func Make(ctx context.Context, dir string) error {
	if !checkPath(dir) {
		return fmt.Errorf("a disk at %q: not a plain whole path", dir)
	}
	image := Image(dir)
	if err := empty(image); err != nil {
		return err
	}
	err := run(ctx, "mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=1,lazy_journal_init=1", image)
	if err == nil {
		err = run(ctx, "mount", "-t", "ext4", "-o", "loop,noatime", image, dir)
	}
	if err != nil {
		return errors.Join(err, Remove(dir))
	}
	return nil
}

func empty(image string) error {
	f, err := os.OpenFile(image, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(Size), f.Close())
}

func run(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Freeze returns once nothing more is written to the disk mounted on dir. A frozen one stays so. It waits for what is being
// written.
func Freeze(dir string) error { return control(dir, "freeze", fiFreeze, unix.EBUSY) }

// Thaw lets all that waits go on. A disk that isn't frozen, or isn't there, stays as it is.
func Thaw(dir string) error {
	if mounted, err := Mounted(dir); err != nil || !mounted {
		return err
	}
	return control(dir, "thaw", fiThaw, unix.EINVAL)
}

// control makes a request; already is the error of one that changes nothing.
func control(dir, what string, request uint, already error) error {
	mounted, err := Mounted(dir)
	if err != nil {
		return err
	}
	if !mounted { // never freeze what dir is a part of
		return fmt.Errorf("%s %s: no disk is mounted there", what, dir)
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.IoctlSetInt(int(f.Fd()), request, 0); err != nil && !errors.Is(err, already) {
		return fmt.Errorf("%s %s: %w", what, dir, err)
	}
	return nil
}

// Mounted says whether a disk is mounted on dir in this process's view.
func Mounted(dir string) (bool, error) {
	table, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 2 && f[1] == dir && f[2] == "ext4" {
			return true, nil
		}
	}
	return false, nil
}

// Under are the folders below dir on which disks are mounted, the deepest first.
func Under(dir string) ([]string, error) {
	table, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 2 && strings.HasPrefix(f[1], strings.TrimRight(dir, "/")+"/") && f[2] == "ext4" {
			out = append(out, f[1])
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out, nil
}

// busyLimit is how long a disk may be in use after the last process that did is gone.
const busyLimit = 5 * time.Second

// Remove thaws and unmounts the disk of dir and removes its file; dir stays, empty. It may be called again.
func Remove(dir string) error {
	if !checkPath(dir) {
		return fmt.Errorf("a disk at %q: not a plain whole path", dir)
	}
	mounted, err := Mounted(dir)
	if err != nil {
		return err
	}
	if mounted {
		if err := errors.Join(Thaw(dir), unmount(dir)); err != nil {
			return err
		}
	}
	if err := os.Remove(Image(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func unmount(dir string) error {
	for end := time.Now().Add(busyLimit); ; time.Sleep(20 * time.Millisecond) {
		err := unix.Unmount(dir, unix.UMOUNT_NOFOLLOW)
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) || time.Now().After(end) {
			return fmt.Errorf("unmount %s: %w", dir, err)
		}
	}
}
