package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// NewRWLock makes etcd/rwlock: a queue of keys in the order of their create revisions. A writer waits until its key is the
// first, a reader until no writer's key is before its own. The token is the key's create revision.
func NewRWLock(o Options) *Sessions {
	return &Sessions{name: "etcd/rwlock", options: o, take: takeRW, free: deleteKey,
		claims: func(c *locks.Claims) { c.Shared, c.ReleaseHeld = true, true }}
}

const writer, reader = "/w-", "/r-"

func takeRW(ctx context.Context, g *held, wait time.Duration) error {
	kind := writer
	if g.mode == history.Shared {
		kind = reader
	}
	g.key = fmt.Sprintf("%s%s%x", prefix(g.name), kind, g.id)
	var mine int64
	err := g.with(ctx, func(ctx context.Context, c *clientv3.Client) error {
		r, err := c.Put(ctx, g.key, g.owner, clientv3.WithLease(g.id))
		if err == nil {
			mine = r.Header.Revision
		}
		return err
	})
	for err == nil {
		var before string
		var seen int64
		if before, seen, err = g.before(ctx, mine); err != nil {
			break
		}
		if before == "" {
			g.token = locks.Token(mine)
			return nil
		}
		if wait <= 0 {
			return locks.ErrHeld
		}
		g.awaitGone(ctx, before, seen)
		err = ctx.Err()
	}
	return err
}

// before is the last key in the queue that stands in g's way, and the revision at which it was seen.
func (g *held) before(ctx context.Context, mine int64) (key string, seen int64, err error) {
	err = g.with(ctx, func(ctx context.Context, c *clientv3.Client) error {
		r, err := c.Get(ctx, prefix(g.name)+"/", clientv3.WithPrefix(), clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
		if err != nil {
			return err
		}
		seen = r.Header.Revision
		own := false
		for _, kv := range r.Kvs {
			if kv.CreateRevision == mine {
				own = true
				break
			}
			if g.mode != history.Shared || strings.HasPrefix(string(kv.Key), prefix(g.name)+writer) {
				key = string(kv.Key)
			}
		}
		if !own {
			return errors.New("the key is gone, and so is the session")
		}
		return nil
	})
	return key, seen, err
}

// awaitGone waits until a key goes, or it is time to look again.
func (g *held) awaitGone(ctx context.Context, key string, seen int64) {
	ctx, cancel := context.WithTimeout(ctx, lookAgain)
	defer cancel()
	if c, err := g.client.conns.get(); err == nil && gone(ctx, c, key, seen) {
		return
	}
	select {
	case <-ctx.Done(): // a watch that broke is not to become a storm of requests
	case <-g.lost:
	}
}

// deleteKey deletes the key if it is still the one that was granted.
func deleteKey(ctx context.Context, g *held) (was bool, err error) {
	err = g.with(ctx, func(ctx context.Context, c *clientv3.Client) error {
		r, err := c.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(g.key), "=", int64(g.token))).Then(clientv3.OpDelete(g.key)).Commit()
		was = err == nil && r.Succeeded
		return err
	})
	return was, err
}
