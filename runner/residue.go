package runner

import (
	"context"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/history"
)

// residueLimit is how long all servers together may take to say what they still keep.
const residueLimit = 5 * time.Second

// observe asks the servers, past every link, what they still keep of the locks when everybody has released them. One that
// can't be asked, or doesn't answer, says nothing.
func (r *run) observe(ctx context.Context) {
	if r.cluster == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, residueLimit)
	defer cancel()
	for _, n := range r.cluster.Nodes() {
		in, ok := n.(cluster.Insider)
		if !ok || in.Inside().Service.Residue == nil {
			continue
		}
		for _, lock := range r.plan.Config.Locks[:min(len(r.plan.Config.Locks), observedLocks)] {
			left, err := in.Inside().Service.Residue(ctx, in.Inside().Addr, lock)
			if err != nil {
				r.log.Debug("what is left on a node", "node", n.Name(), "lock", lock, "error", err)
				break
			}
			for _, x := range left {
				teller{r}.Record(history.Op{Type: history.Observed, Lock: lock, Name: x.Name, TTL: x.TTL, Text: "It was found on " + n.Name() + "."})
			}
		}
	}
}

// observedLocks is of how many names the servers are asked: what is left of one is left of many.
const observedLocks = 20
