package zookeeper

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// recipe is what a place in the queue means.
type recipe struct {
	name string
	// node is a node's name between its owner and its number.
	node func(r locks.Request) string
	// before names the node that has to go before g is granted, of those before its own; anyOf: any change may be enough;
	// empty: it is granted.
	before func(g *grant, names []string) string
	claims func(*locks.Claims)
}

// anyOf stands for the whole queue.
const anyOf = "*"

// mutex is the recipe of zookeeper/ephemeral.
var mutex = recipe{
	name:   "zookeeper/ephemeral",
	node:   func(locks.Request) string { return "-lock-" },
	before: func(_ *grant, names []string) string { return last(names) },
}

func last(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[len(names)-1]
}

const reading, writing = "-read-", "-write-"

// NewRWLock makes zookeeper/rwlock, the recipe "Shared Locks" of ZooKeeper's documentation: a writer waits for the node before
// its own, a reader for the last writer's before its own.
func NewRWLock(o Options) *Ephemeral {
	return &Ephemeral{o, recipe{
		name: "zookeeper/rwlock",
		node: func(r locks.Request) string {
			if r.Mode == history.Shared {
				return reading
			}
			return writing
		},
		before: func(g *grant, names []string) string {
			if g.node == writing {
				return last(names)
			}
			for i := len(names) - 1; i >= 0; i-- {
				if strings.Contains(names[i], writing) {
					return names[i]
				}
			}
			return ""
		},
		claims: func(c *locks.Claims) { c.Shared = true },
	}}
}

// NewSemaphore makes zookeeper/semaphore: the first in the queue whose permits add up to no more than there are hold. Who
// waits watches the whole queue, and is woken by each change.
func NewSemaphore(o Options) *Ephemeral {
	limit := cmp.Or(o.Limit, defaultLimit)
	return &Ephemeral{o, recipe{
		name: "zookeeper/semaphore",
		node: func(r locks.Request) string { return fmt.Sprintf("%s%d-", permits, max(1, r.Permits)) },
		before: func(g *grant, names []string) string {
			taken := permitsOf(g.node)
			for _, name := range names {
				taken += permitsOf(name)
			}
			if taken > limit {
				return anyOf
			}
			return ""
		},
		claims: func(c *locks.Claims) { c.Permits = limit },
	}}
}

const (
	permits      = "-permits-"
	defaultLimit = 3
)

// permitsOf reads them from a node's name; others than ours count as one.
func permitsOf(name string) int {
	_, after, _ := strings.Cut(name, permits)
	number, _, _ := strings.Cut(after, "-")
	n, err := strconv.Atoi(number)
	if err != nil {
		return 1
	}
	return n
}
