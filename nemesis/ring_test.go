package nemesis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locktest/locktest/cluster"
)

// friend is a node that talks to others.
type friend struct{ fakeNode }

func (friend) HasPeers() bool { return true }

// Every node and client hears a majority, no two nodes the same one, and whoever is heard by nobody else is heard by some.
func TestRing(t *testing.T) {
	for nodes := 3; nodes <= 9; nodes++ {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			w := newWorld()
			env := w.env()
			env.Nodes = nil
			for i := range nodes {
				env.Nodes = append(env.Nodes, friend{fakeNode{w, fmt.Sprintf("n%d", i+1)}})
			}
			env.Net = linked{fakeNet{w}}
			f := NewPartition(PartitionSpec{Of: of(All), Shape: Ring})
			if err := f.Check(env); err != nil {
				t.Fatal(err)
			}
			i, err := f.Inject(context.Background(), env)
			if err != nil {
				t.Fatal(err)
			}
			laid, seen := conditions(w), map[string]string{}
			for _, who := range slices.Concat(env.nodes(), env.clients()) {
				var hears []string
				for _, other := range env.nodes() {
					if laid[cluster.Link{From: other, To: who}].Mode != cluster.Hold {
						hears = append(hears, other)
					}
				}
				if len(hears) != nodes/2+1 {
					t.Errorf("%s hears %v, want a majority of %d", who, hears, nodes)
				}
				if env.node(who) == nil {
					continue
				}
				if !slices.Contains(hears, who) {
					t.Errorf("%s doesn't hear itself: %v", who, hears)
				}
				if twin := seen[strings.Join(hears, " ")]; twin != "" {
					t.Errorf("%s and %s hear the same: %v", twin, who, hears)
				}
				seen[strings.Join(hears, " ")] = who
			}
			if err := i.Heal(context.Background()); err != nil || len(w.harmed()) > 0 {
				t.Errorf("healing: %v, left %v", err, w.harmed())
			}
		})
	}
}

// linked has every link but those to oneself.
type linked struct{ fakeNet }

func (linked) Has(l cluster.Link) bool { return l.From != l.To }
