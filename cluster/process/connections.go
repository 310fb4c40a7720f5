package process

import "github.com/locktest/locktest/cluster"

// Protocol is the service's.
func (n *node) Protocol() string { return n.cluster.o.Service.Protocol }

var _ cluster.Spoken = (*node)(nil)
