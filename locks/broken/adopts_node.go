package broken

import (
	"strings"

	"github.com/locktest/locktest/locks"
)

// NewAdoptsNode looks for a node that an earlier life of its client left, and takes it for its own: it belongs to the old
// session, and goes with it while the new one works (apache/curator#1121, CURATOR-604).
//
// Caught by: mutual-exclusion
func NewAdoptsNode() locks.Provider {
	return &zkMistake{place: func(g *zkGrant) error {
		names, err := g.queue()
		if err == nil {
			for _, name := range names {
				if strings.HasPrefix(name, g.client+"-lock-") {
					g.path = g.dir + "/" + name
					return nil
				}
			}
		}
		return g.create(g.client + "-lock-")
	}}
}
