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

// Replicas is a Cluster, and each Node of it, that can tell which nodes could lead and don't.
type Replicas interface {
	// HasReplicas says why the service has none; nil where it may have. It may be asked before the start.
	HasReplicas() error
	// Replicas returns the names of the nodes that follow now, in order. Nodes that are down or don't answer are left out.
	Replicas(ctx context.Context) ([]string, error)
}

// Promoter is a Node that can be made the leader.
type Promoter interface {
	// CanPromote says why it can't be; nil where it can. It may be asked before the start.
	CanPromote() error
	// Promote returns once the node leads. What becomes of the old leader is the service's business.
	Promote(ctx context.Context) error
}

// Chooser is a Cluster, and each Node of it, whose own watchers choose who leads next.
type Chooser interface {
	// HasChooser says why nobody chooses; nil where somebody does. It may be asked before the start.
	HasChooser() error
	// FailOver returns once another node leads.
	FailOver(ctx context.Context) error
}

// Following is what it takes for an old leader to follow the one that was promoted.
type Following string

const (
	ByItself  Following = ""        // nothing: the service sees to it
	ByCommand Following = "command" // Follow
	ByRestart Following = "restart" // its death, and that it comes back without its data
)

// Follower is a Node that may go on leading beside the one that was promoted.
type Follower interface {
	Following() Following
	// Follow makes the node a follower of leader, where Following says so; again it changes nothing.
	Follow(ctx context.Context, leader string) error
}

// Clocked is a Node that can be asked for its time.
type Clocked interface {
	// HasTime says why it can't be asked; nil where it can.
	HasTime() error
	Time(ctx context.Context) (time.Time, error)
}
