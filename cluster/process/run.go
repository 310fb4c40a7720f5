package process

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/locktest/locktest/internal/proc"
)

// user is who servers run as; nil: as this process.
func (c *Cluster) user() *proc.User {
	if c.o.Service.Unprivileged && os.Getuid() == 0 {
		return proc.Nobody()
	}
	return nil
}

// root says whether servers run as root.
func (c *Cluster) root() bool { return os.Getuid() == 0 && c.user() == nil }

// own gives a folder to the servers' user.
func (c *Cluster) own(dir string) error {
	u := c.user()
	if u == nil {
		return nil
	}
	return os.Chown(dir, int(u.UID), int(u.GID))
}

// run runs a program to its end. What it prints is kept as long as it runs, and its end becomes a part of the error.
func (n *node) run(ctx context.Context, path string, args ...string) error {
	what := filepath.Base(path)
	log := filepath.Join(filepath.Dir(n.dir), n.name+"-"+what+".log")
	p, err := n.cluster.o.Spawner.Start(proc.Command{Path: path, Args: args, Dir: n.dir, Log: log, User: n.cluster.user()})
	if err != nil {
		return err
	}
	defer os.Remove(log)
	if err := p.Wait(ctx); err != nil {
		tail := p.LogTail(tailLines)
		if ctx.Err() != nil {
			err = fmt.Errorf("%w (%v)", ctx.Err(), n.abandon(p))
		}
		return fmt.Errorf("%s: %w: %s", what, err, strings.Join(tail, " / "))
	}
	return nil
}
