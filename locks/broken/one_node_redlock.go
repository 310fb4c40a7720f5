package broken

import (
	"context"
	"slices"

	"github.com/locktest/locktest/locks"
)

// NewOneNodeRedlock asks one node as often as there are nodes and calls that a majority: it is as safe as one Redis is, while
// its users believe in Redlock (mike-marcacci/node-redlock#16 asks whether one pair would do).
//
// Caught by: mutual-exclusion
func NewOneNodeRedlock() locks.Provider {
	return &oneNode{quorum(func(nodes int) int { return 1 })}
}

type oneNode struct{ *mistake }

// Open makes a client of the first address alone.
func (m *oneNode) Open(ctx context.Context, t locks.Target) (locks.Client, error) {
	t.Addrs = slices.Clone(t.Addrs[:min(1, len(t.Addrs))])
	return m.mistake.Open(ctx, t)
}
