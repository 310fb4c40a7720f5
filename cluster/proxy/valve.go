package proxy

import (
	"sync/atomic"
	"time"

	"github.com/locktest/locktest/cluster"
)

// valve is the condition of one direction of a pair, obeyed by the gates of all its connections.
type valve struct {
	chance *chance
	now    atomic.Pointer[setting]
}

// setting is a condition for as long as it lasts.
type setting struct {
	cluster.Condition
	over chan struct{} // closed when another takes its place
}

func newValve(c *chance) *valve {
	v := &valve{chance: c}
	v.now.Store(&setting{over: make(chan struct{})})
	return v
}

// set is called by one goroutine at a time.
func (v *valve) set(c cluster.Condition) {
	old := v.now.Swap(&setting{Condition: c, over: make(chan struct{})})
	close(old.over)
}

func (v *valve) get() *setting { return v.now.Load() }

// cut says that nothing gets through now, and nobody is told.
func (v *valve) cut() bool {
	m := v.get().Mode
	return m == cluster.Hold || m == cluster.Drop
}

func (v *valve) mode() cluster.Mode { return v.get().Mode }

// delay is how late a chunk is that comes now.
func (v *valve) delay() time.Duration {
	s := v.get()
	return v.chance.around(s.Latency, s.Jitter)
}
