package process

import (
	"context"
	"fmt"
	"time"

	"github.com/locktest/locktest/cluster"
)

// HasLeaders says whether the service has nodes that lead.
func (c *Cluster) HasLeaders() error {
	if c.o.Service.Leaders == nil {
		return fmt.Errorf("%s has no leader", c.o.Service.Name)
	}
	return nil
}

// Leaders asks all nodes that run, past every link.
func (c *Cluster) Leaders(ctx context.Context) ([]string, error) {
	if err := c.HasLeaders(); err != nil {
		return nil, err
	}
	return c.o.Service.Leaders(ctx, c.running(nil))
}

// HasLeaders is the cluster's.
func (n *node) HasLeaders() error { return n.cluster.HasLeaders() }

// Leaders is the cluster's.
func (n *node) Leaders(ctx context.Context) ([]string, error) { return n.cluster.Leaders(ctx) }

// CanPromote says whether the service lets one choose.
func (n *node) CanPromote() error {
	if n.cluster.o.Service.Promote == nil {
		return fmt.Errorf("%s can't make a node of choice the leader", n.cluster.o.Service.Name)
	}
	return nil
}

// Promote makes this node the leader.
func (n *node) Promote(ctx context.Context) error {
	if err := n.CanPromote(); err != nil {
		return err
	}
	if err := n.cluster.o.Service.Promote(ctx, n.cluster.running(nil), n.name); err != nil {
		return fmt.Errorf("promote node %s: %w", n.name, err)
	}
	return nil
}

// HasTime says whether the service can be asked for its time.
func (n *node) HasTime() error {
	if n.cluster.o.Service.Time == nil {
		return fmt.Errorf("%s doesn't tell its time", n.cluster.o.Service.Name)
	}
	return nil
}

// Time asks the server, past every link.
func (n *node) Time(ctx context.Context) (time.Time, error) {
	if err := n.HasTime(); err != nil {
		return time.Time{}, err
	}
	if n.Pid() == 0 {
		return time.Time{}, fmt.Errorf("time of node %s: it is down", n.name)
	}
	return n.cluster.o.Service.Time(ctx, n.Addr())
}

var (
	_ cluster.Meshed   = (*Cluster)(nil)
	_ cluster.Leader   = (*Cluster)(nil)
	_ cluster.Leader   = (*node)(nil)
	_ cluster.Promoter = (*node)(nil)
	_ cluster.Clocked  = (*node)(nil)
	_ cluster.Ported   = (*node)(nil)
	_ cluster.Peered   = (*node)(nil)
)
