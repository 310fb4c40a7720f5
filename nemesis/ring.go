package nemesis

import (
	"fmt"
	"slices"

	"github.com/locktest/locktest/cluster"
)

// Ring is a shape of a partition: every node and every client hears a majority of the nodes, and no two nodes hear the same
// one, as in Jepsen's majorities-ring. A service that counts voices alone, and doesn't ask whose they are, elects two leaders.
const Ring = "ring"

// ringNodes is the least that such a partition needs: of two nodes a majority is both.
const ringNodes = 3

func (p *Partition) checkRing(env Env) error {
	switch {
	case p.spec.Shape != Ring:
		return fmt.Errorf("partition: the shape is %q, want %s", p.spec.Shape, Ring)
	case len(p.spec.Groups) > 0, p.spec.Of.Of != All && p.spec.Of.Of != Nodes:
		return fmt.Errorf("partition: a ring is made of all nodes: of is %s or %s", All, Nodes)
	case p.spec.Direction != "" && p.spec.Direction != BothWays:
		return fmt.Errorf("partition: a ring has no direction")
	case len(env.Nodes) < ringNodes:
		return fmt.Errorf("partition: a ring needs %d nodes or more, there are %d", ringNodes, len(env.Nodes))
	}
	return nil
}

// ring returns the links to cut. The nodes stand in a ring, in an order that is drawn; each stretch of it that is as long as
// a majority is what the node in its middle hears. Clients hear, and are heard by, one stretch each.
func ring(env Env) []cluster.Link {
	nodes := sample(env, env.nodes(), len(env.Nodes))
	env.Rand.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	length := len(nodes)/2 + 1
	var out []cluster.Link
	for i := range nodes {
		hears := stretch(nodes, i, length)
		middle := hears[length/2]
		for _, other := range nodes {
			if !slices.Contains(hears, other) {
				out = append(out, slices.DeleteFunc(env.links(other, middle, BothWays), func(l cluster.Link) bool { return l.To != middle })...)
			}
		}
	}
	for i, client := range env.clients() {
		hears := stretch(nodes, i, length)
		for _, other := range nodes {
			if !slices.Contains(hears, other) {
				out = append(out, env.links(client, other, BothWays)...)
			}
		}
	}
	return out
}

// stretch is length nodes of a ring, from one on.
func stretch(ring []string, from, length int) []string {
	out := make([]string, length)
	for i := range out {
		out[i] = ring[(from+i)%len(ring)]
	}
	return out
}
