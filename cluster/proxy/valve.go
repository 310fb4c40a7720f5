package proxy

import (
	"sync"
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

	mu   sync.Mutex
	line time.Time // until when what was sent before takes the line, where Rate limits it
}

// piece is how much goes over a limited line at once: about a fiftieth of a second's worth, so that connections share it.
func (s *setting) piece() int { return int(max(1, min(s.Rate/50, 1<<20))) }

// carry gives the line to so many bytes, after those that were given it before, and returns when they are through.
func (s *setting) carry(bytes int) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.line.Before(now) {
		s.line = now
	}
	s.line = s.line.Add(time.Duration(float64(bytes) / float64(s.Rate) * float64(time.Second)))
	return s.line
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
