package etcd

import (
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/locktest/locktest/locks"
)

// Options of the lock. Zero values are the defaults.
type Options struct {
	// Timeout of one request. Default: the TTL.
	Timeout time.Duration
	// Renew is how often the lease of a holder of etcd/lease is extended in the background. 0: never.
	Renew time.Duration
}

// OptionNames are the names that a scenario can give under lock.options of every lock; etcd/lease knows renew too.
func OptionNames() []string { return []string{"timeout"} }

// ParseOptions reads lock.options of a scenario.
func ParseOptions(m map[string]string) (Options, error) {
	var o Options
	for name, text := range m {
		if name != "timeout" && name != "renew" {
			return Options{}, fmt.Errorf("there is no option %s", name)
		}
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return Options{}, fmt.Errorf("option %s: %q is not a duration above zero, such as 500ms", name, text)
		}
		if name == "renew" {
			o.Renew = d
		} else {
			o.Timeout = d
		}
	}
	return o, nil
}

// newLease draws a lease's number: above zero, which etcd would replace by one of its own.
func newLease(t locks.Target) clientv3.LeaseID {
	return clientv3.LeaseID(t.Rand.Uint64()>>1 | 1)
}
