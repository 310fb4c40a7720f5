package cluster

import (
	"context"
	"time"
)

// Leader is a Cluster, and each Node of it, that can tell which nodes lead.
type Leader interface {
	// HasLeaders says why the service has none; nil where it has. It may be asked before the start.
	HasLeaders() error
	// Leaders returns the names of the nodes that say now that they lead, in order: none during an election, and more than
	// one while an old leader hasn't noticed. Nodes that are down or don't answer are left out.
	Leaders(ctx context.Context) ([]string, error)
}

// Promoter is a Node that can be made the leader.
type Promoter interface {
	// CanPromote says why it can't be; nil where it can. It may be asked before the start.
	CanPromote() error
	// Promote returns once the node leads. What becomes of the old leader is the service's business.
	Promote(ctx context.Context) error
}

// Clocked is a Node that can be asked for its time.
type Clocked interface {
	// HasTime says why it can't be asked; nil where it can.
	HasTime() error
	Time(ctx context.Context) (time.Time, error)
}
