package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/history"
)

// residueLimit is how long all servers together may take to say what they still keep.
const residueLimit = 5 * time.Second

// observedLocks is of how many names the servers are asked: what is left of one is left of many.
const observedLocks = 20

// observe asks the servers, past every link, what they still keep of the locks when everybody has released them, and records how
// many of them said so.
func (r *run) observe(ctx context.Context) {
	if r.cluster == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, residueLimit)
	defer cancel()
	nodes, names := r.cluster.Nodes(), r.plan.Config.Locks
	asked := history.Asked{Nodes: len(nodes), Asked: min(len(names), observedLocks), Locks: len(names)}
	left, errs := make([][]history.Op, len(nodes)), make([]error, len(nodes))
	var asking sync.WaitGroup
	for i, n := range nodes { // side by side: one that doesn't answer is not to use up the others' time
		asking.Go(func() { left[i], errs[i] = leftOn(ctx, n, names[:asked.Asked]) })
	}
	asking.Wait()
	why := ""
	for i, n := range nodes {
		for _, op := range left[i] {
			teller{r}.Record(op)
		}
		if errs[i] == nil {
			asked.Answered++
			continue
		}
		r.log.Debug("what is left on a node", "node", n.Name(), "error", errs[i])
		why = cmp.Or(why, r.plan.Access.Redactor().Text(n.Name()+": "+errs[i].Error()))
	}
	data, _ := json.Marshal(asked) // numbers alone
	teller{r}.Record(history.Op{Type: history.Observed, Data: data, Error: why, Text: fmt.Sprintf("nodes that said what they still keep: %d of %d", asked.Answered, asked.Nodes)})
}

// leftOn is what one node still keeps of the locks.
func leftOn(ctx context.Context, n cluster.Node, names []string) (ops []history.Op, err error) {
	in, ok := n.(cluster.Insider)
	if !ok || in.Inside().Service.Residue == nil {
		return nil, errors.New("it can't be asked")
	}
	inside := in.Inside()
	if inside.Running != nil && inside.Running()[n.Name()] == "" {
		return nil, errors.New("it doesn't run")
	}
	for _, lock := range names {
		left, err := inside.Service.Residue(ctx, inside.Addr, lock)
		if err != nil {
			return ops, err
		}
		for _, x := range left {
			ops = append(ops, history.Op{Type: history.Observed, Lock: lock, Name: x.Name, TTL: x.TTL, Text: "It was found on " + n.Name() + "."})
		}
	}
	return ops, nil
}
