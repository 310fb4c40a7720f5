package runner

import (
	"fmt"

	"github.com/locktest/locktest/cluster"
)

// makeStorage makes the server of the guarded resource, where it has one; nothing is started.
func (r *run) makeStorage() (err error) {
	if r.plan.Store == nil {
		return nil
	}
	if r.storage, err = r.plan.Store.Cluster(Site{Run: r.store.id, Logs: r.store.path(LogsDir), Spawner: r.spawner, Log: r.log}); err != nil {
		return fmt.Errorf("make the store: %w", err)
	}
	return nil
}

// storeNode is the server of the guarded resource; nil: there is none.
func (r *run) storeNode() cluster.Node {
	if r.storage == nil {
		return nil
	}
	return r.storage.Nodes()[0]
}

func (r *run) closeStorage() error {
	if r.storage == nil {
		return nil
	}
	return r.storage.Close()
}

// servers are all nodes, that of the store too.
func (r *run) servers() []cluster.Node {
	if r.storage == nil {
		return r.cluster.Nodes()
	}
	return append(r.cluster.Nodes(), r.storeNode())
}

// places are where a client dials the nodes, in their order, and the store.
type places struct {
	nodes []string
	store string // empty: there is none
}

func (r *run) places(client string) places {
	var p places
	if r.cluster == nil {
		return p
	}
	for _, n := range r.cluster.Nodes() {
		p.nodes = append(p.nodes, r.network.Addr(client, n.Name()))
	}
	if r.storage != nil {
		p.store = r.network.Addr(client, r.storeNode().Name())
	}
	return p
}
