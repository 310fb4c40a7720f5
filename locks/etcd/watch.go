package etcd

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/locktest/locktest/locks"
)

// lookAgain is how long a watch is trusted: a member that is cut off tells nothing, and doesn't say so.
const lookAgain = 500 * time.Millisecond

// awaitChange waits for the key to go after it was seen, or until it is time to look again; false says that the wait is over.
func (c *leaseClient) awaitChange(ctx context.Context, r locks.Request, seen int64, deadline time.Time) bool {
	left := time.Until(deadline)
	if left <= 0 {
		return false
	}
	watching, cancel := context.WithTimeout(ctx, min(left, lookAgain))
	defer cancel()
	if client, err := c.conns.get(); err == nil && gone(watching, client, Key(r.Name), seen) {
		return true
	}
	<-watching.Done() // a watch that broke is not to become a storm of requests
	return ctx.Err() == nil && time.Now().Before(deadline)
}

// gone watches a key until it is deleted, and says false if the watch ended before.
func gone(ctx context.Context, client *clientv3.Client, key string, seen int64) bool {
	for reply := range client.Watch(ctx, key, clientv3.WithRev(seen+1), clientv3.WithFilterPut()) {
		if len(reply.Events) > 0 {
			return true
		}
	}
	return false
}
