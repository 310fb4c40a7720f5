package nemesis

import (
	"context"
	"fmt"

	"github.com/locktest/locktest/cluster"
)

// The words for the node that leads when the fault begins, and for one that doesn't. Where an old leader hasn't noticed that there is a new one, either
// may be meant.
const (
	Leader  = "leader"
	Primary = "primary" // the same, for servers that call it so
	Replica = "replica" // one of those that follow, drawn by chance
)

// leader is who can tell: every node can, of the whole cluster.
func (env Env) leader() (cluster.Leader, error) {
	if len(env.Nodes) == 0 {
		return nil, fmt.Errorf("%s: there are no nodes, the lock lives in memory", Leader)
	}
	l, ok := env.Nodes[0].(cluster.Leader)
	if !ok {
		return nil, fmt.Errorf("%s: these nodes%s can't be asked which of them leads", Leader, kindOf(env.Nodes[0]))
	}
	if err := l.HasLeaders(); err != nil {
		return nil, fmt.Errorf("%s: %w", Leader, err)
	}
	return l, nil
}

// pickLeader waits for the end of an election.
func (env Env) pickLeader(ctx context.Context) ([]string, error) {
	l, err := env.leader()
	if err != nil {
		return nil, err
	}
	return pickLive(ctx, env, func() []string {
		names, err := l.Leaders(ctx)
		if err != nil {
			return nil // asked again, until the time for targets is over
		}
		return names
	})
}

// replicas is who can tell which nodes follow.
func (env Env) replicas() (cluster.Replicas, error) {
	if len(env.Nodes) == 0 {
		return nil, fmt.Errorf("%s: there are no nodes, the lock lives in memory", Replica)
	}
	r, ok := env.Nodes[0].(cluster.Replicas)
	if !ok {
		return nil, fmt.Errorf("%s: these nodes%s can't be asked which of them follow", Replica, kindOf(env.Nodes[0]))
	}
	if err := r.HasReplicas(); err != nil {
		return nil, fmt.Errorf("%s: %w", Replica, err)
	}
	return r, nil
}

func (env Env) pickReplica(ctx context.Context) ([]string, error) {
	r, err := env.replicas()
	if err != nil {
		return nil, err
	}
	return pickLive(ctx, env, func() []string {
		names, err := r.Replicas(ctx)
		if err != nil {
			return nil // as with leaders
		}
		return names
	})
}
