package redis

import (
	"cmp"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/locks"
)

// NewFair makes redis/fair: waiters stand in a queue and only its head may take the lock, in the order in which they first
// asked. Each try renews a waiter's sign of life; one that was silent for longer than Options.Patience, by the server's
// clock, is taken out of the queue by whoever asks next. Dead waiters, however many, so delay nobody by more than that.
func NewFair(o Options) locks.Provider {
	return &scripted{name: "redis/fair", options: o, acquire: fairAcquire, release: releaseScript, extend: extendScript, leave: fairLeave,
		keys: func(name string) []string {
			return []string{Key(name), TokenKey(name), Key(name) + ":queue", Key(name) + ":alive", Key(name) + ":ticket"}
		},
		extra: func(r locks.Request, o Options) []any {
			patience := cmp.Or(o.Patience, max(500*time.Millisecond, r.TTL/2))
			if r.Wait == 0 {
				return []any{0}
			}
			return []any{patience.Milliseconds()}
		},
		claims: func(c *locks.Claims) { c.FIFO = true }}
}

// The scripts: KEYS lock, counter, queue by ticket, signs of life by their end, last ticket; ARGV owner, TTL in ms, patience in
// ms, 0 for who doesn't wait.
var (
	fairAcquire = redis.NewScript(serverNow + lasting + `
for _, dead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', now)) do
  redis.call('ZREM', KEYS[3], dead)
  redis.call('ZREM', KEYS[4], dead)
end
local waits = tonumber(ARGV[3])
if waits > 0 then
  if not redis.call('ZSCORE', KEYS[3], ARGV[1]) then
    redis.call('ZADD', KEYS[3], redis.call('INCR', KEYS[5]), ARGV[1])
  end
  redis.call('ZADD', KEYS[4], now + waits, ARGV[1])
  lasting(KEYS[3], 2 * waits)
  lasting(KEYS[4], 2 * waits)
end
local head = redis.call('ZRANGE', KEYS[3], 0, 0)[1]
if head and head ~= ARGV[1] then return false end
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return false end
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('ZREM', KEYS[4], ARGV[1])
return redis.call('INCR', KEYS[2])`)

	fairLeave = redis.NewScript(`
redis.call('ZREM', KEYS[4], ARGV[1])
return redis.call('ZREM', KEYS[3], ARGV[1])`)
)
