package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/locks"
)

// Reentrant is redis/reentrant: a hash with the owner, the token, and a field for each acquire of the holder. The fields
// make a release repeatable: a count that was decremented twice, because a reply was lost, would free the lock early. Each
// acquire of the holder begins the lease anew.
type Reentrant struct{ *scripted }

// NewReentrant makes the provider. A client holds a lock at most Options.Limit times.
func NewReentrant(o Options) locks.Provider {
	limit := cmp.Or(o.Limit, defaultLimit)
	o.Renew = 0 // whose renewal would it be, of several acquires under one lease?
	return &Reentrant{&scripted{name: "redis/reentrant", options: o, acquire: reentrantAcquire, release: reentrantRelease, extend: reentrantExtend,
		keys:   func(name string) []string { return []string{Key(name), TokenKey(name)} },
		extra:  func(locks.Request, Options) []any { return []any{limit} },
		claims: func(c *locks.Claims) { c.Reentry = limit }}}
}

// Open makes a client; it is the owner of what it holds.
func (p *Reentrant) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	c, err := p.scripted.open(t)
	if err != nil {
		return nil, err
	}
	return &reentrantClient{scriptedClient: c, holds: map[string]*holding{}}, nil
}

type reentrantClient struct {
	*scriptedClient
	mu    sync.Mutex
	holds map[string]*holding // by name
	next  int                 // number of the last acquire
}

// holding is a lock as this client believes to hold it.
type holding struct {
	owner string
	token locks.Token
	until time.Time
	depth int
}

// again returns what the client holds of that name, or a holding with an owner of its own.
func (c *reentrantClient) again(name string) (h *holding, number int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	if h = c.holds[name]; h == nil || h.depth == 0 || !time.Now().Before(h.until) {
		h = &holding{owner: c.target.Owner()}
		c.holds[name] = h
	}
	return h, c.next
}

// Acquire asks as the owner that holds, if this client believes to hold, and as a new one else.
func (c *reentrantClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	h, number := c.again(r.Name)
	lock, err := c.as(ctx, r, fmt.Sprintf("%s#%d", h.owner, number))
	if lock == nil {
		return nil, err
	}
	l := &level{single: lock.(*single), client: c, holding: h}
	if err == nil {
		l.enter()
	}
	return l, err
}

// level is one acquire of a holder. What the server compares is the owner before the number.
type level struct {
	*single
	client  *reentrantClient
	holding *holding
	inside  bool // counted in the holding's depth
}

func (l *level) enter() {
	l.client.mu.Lock()
	defer l.client.mu.Unlock()
	if h := l.holding; h.depth > 0 && h.token != l.Token() { // it had ended without the client's knowledge: this is another hold
		l.holding = &holding{owner: h.owner}
		l.client.holds[l.request.Name] = l.holding
	}
	l.holding.token, l.holding.until, l.inside = l.Token(), l.ValidUntil(), true
	l.holding.depth++
}

// Owner is the same for all acquires of a hold.
func (l *level) Owner() string { return l.holding.owner }

// Release gives this acquire back; with the last one the lock is free.
func (l *level) Release(ctx context.Context) error {
	err := l.single.Release(ctx)
	if err == nil || errors.Is(err, locks.ErrNotHeld) {
		l.leave()
	}
	return err
}

func (l *level) leave() {
	l.client.mu.Lock()
	defer l.client.mu.Unlock()
	if l.inside {
		l.inside = false
		l.holding.depth--
	}
}

// Extend starts the hold's lease anew.
func (l *level) Extend(ctx context.Context, ttl time.Duration) error {
	err := l.single.Extend(ctx, ttl)
	if err == nil {
		l.client.mu.Lock()
		defer l.client.mu.Unlock()
		l.holding.until = l.ValidUntil()
	}
	return err
}

// The scripts: KEYS hash, counter; ARGV owner#number, TTL in ms, limit. Two fields of the hash are the owner and the token,
// every other one is an acquire.
const ownerOf = `
local owner = string.match(ARGV[1], '^(.*)#%d+$')
`

var (
	reentrantAcquire = redis.NewScript(ownerOf + `
local holder = redis.call('HGET', KEYS[1], 'owner')
if not holder then
  redis.call('HSET', KEYS[1], 'owner', owner, 'token', redis.call('INCR', KEYS[2]))
elseif holder ~= owner or redis.call('HLEN', KEYS[1]) - 2 >= tonumber(ARGV[3]) then
  return false
end
redis.call('HSET', KEYS[1], ARGV[1], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return tonumber(redis.call('HGET', KEYS[1], 'token'))`)

	reentrantRelease = redis.NewScript(`
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
if redis.call('HLEN', KEYS[1]) == 2 then redis.call('DEL', KEYS[1]) end
return 1`)

	reentrantExtend = redis.NewScript(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`)
)
