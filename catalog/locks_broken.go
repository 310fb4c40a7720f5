package catalog

import (
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/broken"
	"github.com/locktest/locktest/locks/redis"
)

// brokenLocks are wrong on purpose.
func brokenLocks() []Lock {
	return []Lock{
		wrong("bare-del", "releases by DEL without comparing the owner", "mutual-exclusion", broken.NewBareDel),
		wrong("everyone", "sets the key without asking whether it is there", "mutual-exclusion", broken.NewEveryone),
		wrong("extend-recreates", "extends by SET, which makes an ended lease anew", "mutual-exclusion", broken.NewExtendRecreates),
		wrong("never-released", "answers a release with success and does nothing", "liveness", broken.NewNeverReleased),
		wrongOn(3, "redlock-elapsed", "counts Redlock's validity from the end of the acquire", "mutual-exclusion", "redis/redlock", broken.NewRedlockElapsed),
		wrong("separate-incr", "counts the token in a command of its own after the grant", "fencing", broken.NewSeparateIncr),
		wrong("setnx-expire", "sets the key and its TTL in two commands", "liveness", broken.NewSetNXExpire),
		wrong("shared-owner", "compares an owner value that all clients of a host share", "mutual-exclusion", broken.NewSharedOwner),
	}
}

func wrong(name, about, caught string, new func() locks.Provider) Lock {
	l := wrongOn(1, name, about, caught, "redis/single", new)
	l.Max = 1
	return l
}

func wrongOn(nodes int, name, about, caught, reference string, new func() locks.Provider) Lock {
	return Lock{Name: "broken/" + name, About: about, New: plain(new), Service: redis.Service, Nodes: nodes, Min: nodes, Extends: true, Caught: caught, Reference: reference}
}
