// Package broken holds locks that are wrong on purpose, one mistake a file: the positive controls of the harness. Each
// says in its file's comment what is wrong, where that was published, and by which property it is caught. None is for use.
package broken

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/internal/redisconn"
)

// mistake is a lock in one Redis as its author wrote it. What a mistake doesn't replace is right: see base.
type mistake struct {
	// grant tries once. Nil with ErrHeld: somebody else has it.
	grant func(ctx context.Context, c *client, g *grant) error
	// release and extend are right where they are nil.
	release func(ctx context.Context, g *grant) error
	extend  func(ctx context.Context, g *grant, ttl time.Duration) error
	// owner makes the value that is compared; nil: one of its own for each acquire.
	owner func(t locks.Target) string
	// claims changes what the lock promises.
	claims func(*locks.Claims)
}

// Claims are those of redis/single: what the author believes.
func (m *mistake) Claims(ttl time.Duration) locks.Claims {
	c := locks.Claims{Expiry: history.Lease, TTL: ttl, Tokens: history.PerGrant, OwnerChecked: true, ReleaseHeld: true, Validity: true, Distributed: true}
	if m.claims != nil {
		m.claims(&c)
	}
	return c
}

// Open makes a client of all addresses; most mistakes use the first alone.
func (m *mistake) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	if len(t.Addrs) == 0 {
		return nil, errors.New("no address")
	}
	c := &client{mistake: m, target: t}
	for _, addr := range t.Addrs {
		c.nodes = append(c.nodes, redisconn.Open(t, addr, 2*time.Second))
	}
	return c, nil
}

type client struct {
	mistake *mistake
	target  locks.Target
	nodes   []*redis.Client
	mu      sync.Mutex // of target.Rand
}

func (c *client) Close() error {
	var errs []error
	for _, n := range c.nodes {
		errs = append(errs, n.Close())
	}
	return errors.Join(errs...)
}

// Acquire polls every 5 to 15 ms.
func (c *client) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	deadline := time.Now().Add(r.Wait)
	for {
		g := c.new(r)
		err := c.mistake.grant(ctx, c, g)
		if err == nil {
			return g, nil
		}
		if !errors.Is(err, locks.ErrHeld) {
			return g.unlessDefinite(err)
		}
		pause := c.pause()
		if time.Now().Add(pause).After(deadline) || !locks.Sleep(ctx, pause) {
			return nil, locks.ErrHeld
		}
	}
}

// new is a grant that nobody has given yet.
func (c *client) new(r locks.Request) *grant {
	return &grant{client: c, key: "lock:{" + r.Name + "}", request: r, ttl: r.TTL, owner: c.owner()}
}

func (c *client) owner() string {
	if c.mistake.owner != nil {
		return c.mistake.owner(c.target)
	}
	c.mu.Lock() // a waiter that was left behind draws too
	defer c.mu.Unlock()
	return c.target.Owner()
}

// pause is 5 to 15 ms.
func (c *client) pause() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return 5*time.Millisecond + time.Duration(c.target.Rand.Int64N(int64(10*time.Millisecond)))
}

// isNil says whether Redis answered with nothing.
func isNil(err error) bool { return errors.Is(err, redis.Nil) }

type grant struct {
	client  *client
	request locks.Request
	key     string
	owner   string
	ttl     time.Duration
	token   locks.Token

	mu    sync.Mutex
	until time.Time
}

func (g *grant) unlessDefinite(err error) (locks.Lock, error) {
	if err = redisconn.Classify(err); locks.Definite(err) {
		return nil, err
	}
	return g, err
}

func (g *grant) node() *redis.Client   { return g.client.nodes[0] }
func (g *grant) Owner() string         { return g.owner }
func (g *grant) Token() locks.Token    { return g.token }
func (g *grant) TTL() time.Duration    { return g.ttl }
func (g *grant) Lost() <-chan struct{} { return nil }

func (g *grant) ValidUntil() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.until
}

func (g *grant) validFrom(t time.Time, ttl time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.until = t.Add(ttl - ttl/100 - 2*time.Millisecond)
}

func (g *grant) Release(ctx context.Context) error {
	if g.client.mistake.release != nil {
		return redisconn.Classify(g.client.mistake.release(ctx, g))
	}
	return g.eval(ctx, compareAndDelete, g.owner)
}

func (g *grant) Extend(ctx context.Context, ttl time.Duration) error {
	if g.client.mistake.extend != nil {
		return redisconn.Classify(g.client.mistake.extend(ctx, g, ttl))
	}
	sent := time.Now()
	if err := g.eval(ctx, compareAndExpire, g.owner, ttl.Milliseconds()); err != nil {
		return err
	}
	g.validFrom(sent, ttl)
	return nil
}

// The right scripts.
const (
	setWithToken     = `if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('INCR', KEYS[2]) end return false`
	compareAndDelete = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`
	compareAndExpire = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`
)

// eval runs a script that answers 1 for yes.
func (g *grant) eval(ctx context.Context, script string, args ...any) error {
	n, err := g.node().Eval(ctx, script, []string{g.key}, args...).Int64()
	if err != nil {
		return redisconn.Classify(err)
	}
	if n != 1 {
		return locks.ErrNotHeld
	}
	return nil
}

// rightGrant is how redis/single does it: one script that grants and counts the token.
func rightGrant(ctx context.Context, _ *client, g *grant) error { return g.grantBy(ctx, setWithToken) }

// grantBy runs a script that takes the lock for the owner, KEYS lock and counter, ARGV owner and TTL in ms, and answers with
// the token, or nil where it is held.
func (g *grant) grantBy(ctx context.Context, script string) error {
	sent := time.Now()
	n, err := g.node().Eval(ctx, script, []string{g.key, g.key + ":token"}, g.owner, g.ttl.Milliseconds()).Int64()
	if isNil(err) {
		return locks.ErrHeld
	}
	if err != nil {
		return err
	}
	g.token = locks.Token(n)
	g.validFrom(sent, g.ttl)
	return nil
}

// countToken is the half of rightGrant that some do apart.
func (g *grant) countToken(ctx context.Context) error {
	n, err := g.node().Incr(ctx, g.key+":token").Result()
	g.token = locks.Token(n)
	return err
}
