package zookeeper_test

import (
	"testing"
	"time"

	"github.com/locktest/locktest/locks/lockstest"
	"github.com/locktest/locktest/locks/zookeeper"
)

func TestEphemeral(t *testing.T)        { conform(t, 1) }
func TestEphemeralOnThree(t *testing.T) { conform(t, 3) }

func conform(t *testing.T, nodes int) {
	lockstest.Run(t, func(t *testing.T) lockstest.Kit {
		c, n := up(t, nodes)
		kit := lockstest.Kit{Provider: zookeeper.NewEphemeral(zookeeper.Options{}), TTL: time.Second}
		for _, m := range c.Nodes() {
			kit.Addrs = append(kit.Addrs, n.Addr("c1", m.Name()))
		}
		return kit
	})
}
