//go:build integration

package etcd_test

import (
	"testing"

	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/etcdd"
	"github.com/locktest/locktest/locks/etcd"
)

func TestThreeMembers(t *testing.T) {
	clustertest.Quorum(t, etcd.Service(etcdd.Version), "etcd", "peer")
}
