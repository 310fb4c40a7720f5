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

// HasReplicas says whether the service has nodes that follow.
func (c *Cluster) HasReplicas() error {
	if c.o.Service.Replicas == nil {
		return fmt.Errorf("%s has no replicas", c.o.Service.Name)
	}
	return nil
}

// Replicas asks all nodes that run, past every link.
func (c *Cluster) Replicas(ctx context.Context) ([]string, error) {
	if err := c.HasReplicas(); err != nil {
		return nil, err
	}
	return c.o.Service.Replicas(ctx, c.running(nil))
}

// HasChooser says whether somebody watches over the nodes.
func (c *Cluster) HasChooser() error {
	if c.o.Service.FailOver == nil {
		return fmt.Errorf("nobody watches over %s and chooses who leads", c.o.Service.Name)
	}
	return nil
}

// FailOver has another node lead, whoever the service chooses.
func (c *Cluster) FailOver(ctx context.Context) error {
	if err := c.HasChooser(); err != nil {
		return err
	}
	return c.o.Service.FailOver(ctx, c.running(nil))
}

// HasReplicas is the cluster's.
func (n *node) HasReplicas() error { return n.cluster.HasReplicas() }

// Replicas is the cluster's.
func (n *node) Replicas(ctx context.Context) ([]string, error) { return n.cluster.Replicas(ctx) }

// HasChooser is the cluster's.
func (n *node) HasChooser() error { return n.cluster.HasChooser() }

// FailOver is the cluster's.
func (n *node) FailOver(ctx context.Context) error { return n.cluster.FailOver(ctx) }

// Following is the service's.
func (n *node) Following() cluster.Following { return n.cluster.o.Service.Following }

// Follow tells the node who leads.
func (n *node) Follow(ctx context.Context, leader string) error {
	s := n.cluster.o.Service
	if s.Following != cluster.ByCommand || s.Follow == nil {
		return fmt.Errorf("node %s: %s can't be told whom to follow", n.name, s.Name)
	}
	if err := s.Follow(ctx, n.cluster.running(nil), n.name, leader); err != nil {
		return fmt.Errorf("make node %s follow %s: %w", n.name, leader, err)
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
	_ cluster.Replicas = (*Cluster)(nil)
	_ cluster.Replicas = (*node)(nil)
	_ cluster.Promoter = (*node)(nil)
	_ cluster.Chooser  = (*Cluster)(nil)
	_ cluster.Chooser  = (*node)(nil)
	_ cluster.Follower = (*node)(nil)
	_ cluster.Clocked  = (*node)(nil)
	_ cluster.Ported   = (*node)(nil)
	_ cluster.Peered   = (*node)(nil)
)
