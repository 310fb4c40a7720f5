package process

import "github.com/locktest/locktest/cluster"

// Protocol is the service's.
func (n *node) Protocol() string { return n.cluster.o.Service.Protocol }

// OnLoopback is true: servers listen at loopback addresses, and so do links.
func (n *node) OnLoopback() bool { return true }

// Inside asks the node's server.
func (n *node) Inside() cluster.Inside {
	return cluster.Inside{Service: n.cluster.o.Service, Addr: n.Addr(), Running: func() map[string]string { return n.cluster.running(nil) }}
}

var (
	_ cluster.Spoken  = (*node)(nil)
	_ cluster.Insider = (*node)(nil)
	_ cluster.Local   = (*node)(nil)
)
