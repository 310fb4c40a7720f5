package process

import (
	"context"
	"errors"
	"fmt"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/disk"
)

// makeDisk gives a node's folder a file system of its own, where that was asked for. Whoever survives knows of it before it
// is there.
func (c *Cluster) makeDisk(ctx context.Context, n *node) error {
	if !c.o.Disks {
		return nil
	}
	if err := c.o.Spawner.UnmountLater(n.dir); err != nil {
		return err
	}
	if err := disk.Make(ctx, n.dir); err != nil {
		return fmt.Errorf("a disk for node %s: %w", n.name, err)
	}
	return nil
}

func (c *Cluster) removeDisks() error {
	if !c.o.Disks {
		return nil
	}
	var errs []error
	for _, n := range c.nodes {
		if n.dir != "" {
			errs = append(errs, disk.Remove(n.dir))
		}
	}
	return errors.Join(errs...)
}

// CanStall wants a disk of the node's own.
func (n *node) CanStall() error {
	if !n.cluster.o.Disks {
		return fmt.Errorf("node %s has no disk of its own", n.name)
	}
	return disk.Supported()
}

// Stall freezes the node's disk. What the server writes from now on waits, and so does the server.
func (n *node) Stall(context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.CanStall(); err != nil {
		return err
	}
	if n.p == nil {
		return fmt.Errorf("stall node %s: it is down", n.name)
	}
	n.frozen = true // it may be, whatever comes back
	if err := disk.Freeze(n.dir); err != nil {
		return fmt.Errorf("stall node %s: %w", n.name, err)
	}
	return nil
}

// Unstall thaws it.
func (n *node) Unstall(context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.thaw()
}

// thawStopped is for a node that is about to be killed: a process that waits for a frozen disk can't die, and must not go on
// either.
func (n *node) thawStopped(ctx context.Context) error {
	if !n.frozen {
		return nil
	}
	if err := n.p.Pause(ctx); err != nil {
		return fmt.Errorf("node %s: %w", n.name, err)
	}
	return n.thaw()
}

// thaw is for a node whose lock is held.
func (n *node) thaw() error {
	if !n.frozen {
		return nil
	}
	if err := disk.Thaw(n.dir); err != nil {
		return fmt.Errorf("node %s: %w", n.name, err)
	}
	n.frozen = false
	return nil
}

var _ cluster.Staller = (*node)(nil)
