package locks

import (
	"math/rand/v2"
	"sync"
)

// SharedRand returns a source of chance that several goroutines may draw from, as the threads of one client do: rand.Rand itself
// keeps nothing but its source.
func SharedRand(s rand.Source) *rand.Rand { return rand.New(&sharedSource{source: s}) }

type sharedSource struct {
	mu     sync.Mutex
	source rand.Source
}

func (s *sharedSource) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source.Uint64()
}
