package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/memory"
)

// memoryLimit is how many permits memory/semaphore has, and how often memory/reentrant can be taken, unless said otherwise.
const memoryLimit = 3

func memoryLocks() []Lock {
	limit := []string{"limit"}
	return []Lock{
		{Name: "memory/lease", About: "in this process: exact TTL, tokens, loss told; not distributed", New: plain(func() locks.Provider { return memory.NewLease() }), Extends: true},
		{Name: "memory/mutex", About: "in this process: no TTL, tokens; not distributed", New: plain(func() locks.Provider { return memory.NewMutex() })},
		{Name: "memory/reentrant", About: "in this process: memory/lease that its holder may take `limit` times (3); not distributed", Options: limit, Extends: true,
			New: with(parseLimit, func(n int) locks.Provider { return memory.NewReentrant(n) })},
		{Name: "memory/rwlock", About: "in this process: memory/lease that readers share; not distributed", New: plain(func() locks.Provider { return memory.NewRWLock() }), Extends: true},
		{Name: "memory/semaphore", About: "in this process: leases on `limit` permits (3); not distributed", Options: limit, Extends: true,
			New: with(parseLimit, func(n int) locks.Provider { return memory.NewSemaphore(n) })},
	}
}

func parseLimit(options map[string]string) (int, error) {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		n, err := strconv.Atoi(options[name])
		if name != "limit" || err != nil || n < 1 {
			return 0, fmt.Errorf("option %s: %q is not a limit above 0", name, strings.TrimSpace(options[name]))
		}
		return n, nil
	}
	return memoryLimit, nil
}
