package broken

import "github.com/locktest/locktest/locks"

// NewOrphanNode makes a sequential ephemeral node and takes a reply that never came for a node that was never made: it stays
// in the queue, and blocks everybody while the session lives (samuel/go-zookeeper#229; Curator's protection mode is for this).
//
// Caught by: liveness
func NewOrphanNode() locks.Provider {
	return &zkMistake{place: func(g *zkGrant) error { return g.create(g.owner + "-lock-") }}
}
