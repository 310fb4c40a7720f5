package catalog

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/docker"
	"github.com/locktest/locktest/internal/blackhole"
	"github.com/locktest/locktest/internal/disk"
	"github.com/locktest/locktest/internal/proc"
)

// Clean removes what dead runs on this machine have left, and says what that was: processes, containers, then disks and folders.
// What belongs to a run that lives, or to nobody that can be known, is not touched.
func Clean(ctx context.Context) (removed []string, err error) {
	left, err := proc.Leftovers()
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, l := range left { // a process that waits for a frozen disk can't die
		errs = append(errs, thaw(l.Path))
	}
	if err := proc.EndLeftovers(ctx, left); err != nil {
		return nil, errors.Join(append(errs, fmt.Errorf("end processes: %w", err))...)
	}
	for _, l := range left {
		if l.Path != "" {
			if err := removeOwned(l.Path); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		removed = append(removed, l.String())
	}
	if blackhole.Supported() == nil { // else there can be none
		chains, err := blackhole.Clean(ctx)
		errs = append(errs, err)
		for _, c := range chains {
			removed = append(removed, "black hole "+c)
		}
	}
	containers, err := cleanContainers(ctx)
	return append(removed, containers...), errors.Join(append(errs, err)...)
}

// thaw lets the disks under a folder go on.
func thaw(path string) error {
	if path == "" {
		return nil
	}
	mounts, err := disk.Under(path)
	for _, m := range mounts {
		err = errors.Join(err, disk.Thaw(m))
	}
	return err
}

// removeOwned removes a folder with the disks in it.
func removeOwned(path string) error {
	mounts, err := disk.Under(path)
	if err != nil {
		return err
	}
	for _, m := range mounts {
		if err := disk.Remove(m); err != nil {
			return fmt.Errorf("remove the disk at %s: %w", m, err)
		}
	}
	return os.RemoveAll(path)
}

// cleanContainers: where no engine answers there is nothing to be seen.
func cleanContainers(ctx context.Context) (removed []string, err error) {
	left, err := docker.Leftovers(ctx)
	var none *cluster.Error
	if errors.As(err, &none) && none.Code == cluster.CodeNoEngine {
		return nil, nil
	}
	if err != nil || len(left) == 0 {
		return nil, err
	}
	if err := docker.RemoveLeftovers(ctx, left); err != nil {
		return nil, err
	}
	for _, l := range left {
		removed = append(removed, l.String())
	}
	return removed, nil
}
