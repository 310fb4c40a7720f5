package cluster_test

import (
	"fmt"

	"github.com/locktest/locktest/cluster"
)

// A link is one direction. A one-way partition harms one of the two.
func ExampleBoth() {
	for _, l := range cluster.Both("c1", "n1") {
		fmt.Printf("what %s sends to %s\n", l.From, l.To)
	}
	// Output:
	// what c1 sends to n1
	// what n1 sends to c1
}
