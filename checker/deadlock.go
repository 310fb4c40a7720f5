package checker

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Deadlock is a kind of finding of Liveness: clients that each wait for a lock that the next of them holds, until one of
// them gives up.
const Deadlock = "deadlock"

// waiting is a client that asks for a lock while it holds another, and whom it waits for.
type waiting struct {
	who, whom int32 // threads of clients
	acq, hold int32 // who's acquire, whom's grant's acquire
	from, to  time.Duration
}

// deadlocks finds circles of clients that wait for each other for longer than half of what they may wait at all; shorter
// ones may be calls that meet on the wire.
func deadlocks(v *view, r *ruling) {
	least := max(v.header.Bounds.Wait/2, v.discernible()) + 2*v.slack
	if v.header.Bounds.Wait == 0 {
		return
	}
	edges := v.waitsFor(least)
	byWho := map[int32][]int{}
	for k := range edges {
		byWho[edges[k].who] = append(byWho[edges[k].who], k)
	}
	seen := map[string]bool{}
	for k := range edges {
		c := &circle{edges: edges, byWho: byWho, least: least}
		if path := c.close([]int{k}, edges[k].from, edges[k].to); path != nil {
			c.tell(v, r, path, seen)
		}
	}
}

// waitsFor are the acquires of clients that held another lock meanwhile, each with those who held what was asked for.
func (v *view) waitsFor(least time.Duration) []waiting {
	held := map[int32][]tenure{} // by thread: those of one client go on without each other
	for i := range v.locks {
		for _, t := range v.locks[i].tenures() {
			who := v.ops[t.acq].thread
			held[who] = append(held[who], t)
		}
	}
	var out []waiting
	for i := range v.locks {
		l := &v.locks[i]
		ts := l.tenures()
		if l.contract.Permits > 1 {
			continue // whoever holds one permit need not be who is waited for
		}
		for _, a := range l.acquires {
			o := &v.ops[a]
			who, end := o.thread, v.gaveUp(o)
			if end-o.call < least || !slices.ContainsFunc(held[who], func(t tenure) bool { return t.ac < o.call && t.stop > o.call && t.acq != a }) {
				continue
			}
			for k := range ts {
				t := &ts[k]
				if from, to := max(t.ac, o.call), min(t.stop, end); t.acq != a && to-from >= least {
					out = append(out, waiting{who, v.ops[t.acq].thread, a, t.acq, from, to})
				}
			}
		}
	}
	return out
}

// circle looks for a way from one wait back to the client that it began with.
type circle struct {
	edges []waiting
	byWho map[int32][]int
	least time.Duration
}

// longestCircle bounds the search.
const longestCircle = 4

func (c *circle) close(path []int, from, to time.Duration) []int {
	first, last := &c.edges[path[0]], &c.edges[path[len(path)-1]]
	if last.whom == first.who {
		return path
	}
	if len(path) == longestCircle {
		return nil
	}
	for _, k := range c.byWho[last.whom] {
		e := &c.edges[k]
		f, t := max(from, e.from), min(to, e.to)
		if t-f < c.least {
			continue
		}
		if found := c.close(append(slices.Clone(path), k), f, t); found != nil {
			return found
		}
	}
	return nil
}

func (c *circle) tell(v *view, r *ruling, path []int, seen map[string]bool) {
	sorted := slices.Sorted(slices.Values(path))
	if key := fmt.Sprint(sorted); seen[key] {
		return
	} else {
		seen[key] = true
	}
	from, to := time.Duration(0), time.Duration(forever)
	var ops []int32
	var parts []string
	for _, k := range sorted {
		e := &c.edges[k]
		from, to = max(from, e.from), min(to, e.to)
		ops = append(ops, e.hold, e.acq)
		parts = append(parts, fmt.Sprintf("%s waited for %s, which %s held", v.client(&v.ops[e.acq]), quoted(v.lockName(e.acq)), v.client(&v.ops[e.hold])))
	}
	slices.Sort(ops)
	ops = slices.Compact(ops)
	r.numbers["deadlocks"]++
	r.add(Finding{Kind: Deadlock, Lock: v.lockName(c.edges[path[0]].acq), Blame: ClientParty, Strength: Definite, At: from, Until: to,
		Ops: v.events(ops...), Grants: v.grantIDs(ops...), Fault: v.faultAt(from, from),
		Message: fmt.Sprintf("from %s to %s (%s) %s: a deadlock.", seconds(from), seconds(to), seconds(to-from), strings.Join(parts, ", and "))})
}

func (v *view) lockName(acq int32) string { return v.locks[v.grants[v.ops[acq].grant].lock].name }
