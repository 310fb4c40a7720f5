package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/locktest/locktest/locks"
)

// grant is one acquire, and the session that holds the lock or may hold it.
type grant struct {
	client  *client
	session *session
	key     int64
	request locks.Request
	owner   string
	token   locks.Token

	lost   chan struct{}
	unwait func()        // ends the watch; nil without one
	done   chan struct{} // closed when the watch has ended

	mu       sync.Mutex // one release at a time
	answered bool
}

func newGrant(c *client, s *session, r locks.Request) *grant {
	s.grants++
	return &grant{client: c, session: s, key: Key(r.Name), request: r, owner: fmt.Sprintf("%s/%d", s.name, s.grants), lost: make(chan struct{})}
}

func (g *grant) Owner() string         { return g.owner }
func (g *grant) Token() locks.Token    { return g.token }
func (g *grant) TTL() time.Duration    { return 0 }
func (g *grant) ValidUntil() time.Time { return time.Time{} }
func (g *grant) Lost() <-chan struct{} { return g.lost }

// watch reads from the connection, on which nothing comes until it ends.
func (g *grant) watch() {
	ctx, cancel := context.WithCancel(context.Background())
	g.unwait, g.done = cancel, make(chan struct{})
	go func() {
		defer close(g.done)
		for ctx.Err() == nil {
			if err := g.session.conn.WaitForNotification(ctx); err != nil && ctx.Err() == nil {
				g.session.close()
				close(g.lost)
				return
			}
		}
	}()
}

// Release unlocks on the session that holds. Where its connection is gone, or its last answer unknown, another connection
// to the same server ends the session.
func (g *grant) Release(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.answered {
		return locks.ErrNotHeld
	}
	g.unwatch()
	held, err := g.release(ctx)
	if err != nil {
		return err
	}
	g.answered = true
	if !held {
		return locks.ErrNotHeld
	}
	return nil
}

func (g *grant) release(ctx context.Context) (held bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, g.client.options.Timeout)
	defer cancel()
	if g.session.conn.IsClosed() {
		g.client.drop(g.session)
		return g.client.end(ctx, g.session, g.key)
	}
	held, err = g.client.how.unlock(ctx, g)
	if err != nil {
		g.client.drop(g.session)
		return false, fmt.Errorf("unlock: %w", err)
	}
	g.client.give(g.session)
	return held, nil
}

// unwatch leaves the connection to whoever called it.
func (g *grant) unwatch() {
	if g.unwait != nil {
		g.unwait()
		<-g.done
	}
}
