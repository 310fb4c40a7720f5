package redis

import (
	"cmp"

	"github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/locks"
)

// defaultLimit is how many permits redis/semaphore has, and how often redis/reentrant can be taken, unless said otherwise.
const defaultLimit = 3

// NewSemaphore makes redis/semaphore: a sorted set of holders whose scores are the ends of their leases by the server's
// clock. Each hold has an owner of its own, and the number of its permits in its member, so that a release, late or
// repeated, frees its own permits or nothing. Counting and taking is one script.
func NewSemaphore(o Options) locks.Provider {
	limit := cmp.Or(o.Limit, defaultLimit)
	return &scripted{name: "redis/semaphore", options: o, acquire: semaphoreAcquire, release: semaphoreRelease, extend: semaphoreExtend,
		keys:   func(name string) []string { return []string{Key(name) + ":holders", TokenKey(name)} },
		extra:  func(r locks.Request, _ Options) []any { return []any{max(1, r.Permits), limit} },
		claims: func(c *locks.Claims) { c.Permits = limit }}
}

// The scripts: KEYS holders, counter; ARGV owner, TTL in ms, permits, limit.
var (
	semaphoreAcquire = redis.NewScript(serverNow + lasting + `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local taken = 0
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  taken = taken + tonumber(string.match(member, '%d+$'))
end
if taken + tonumber(ARGV[3]) > tonumber(ARGV[4]) then return false end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1] .. '|' .. ARGV[3])
lasting(KEYS[1], ARGV[2])
return redis.call('INCR', KEYS[2])`)

	semaphoreRelease = redis.NewScript(serverNow + `
local member = ARGV[1] .. '|' .. ARGV[3]
local ends = redis.call('ZSCORE', KEYS[1], member)
if not ends then return 0 end
redis.call('ZREM', KEYS[1], member)
if tonumber(ends) > now then return 1 end
return 0`)

	semaphoreExtend = redis.NewScript(serverNow + lasting + `
local member = ARGV[1] .. '|' .. ARGV[3]
local ends = redis.call('ZSCORE', KEYS[1], member)
if not ends or tonumber(ends) <= now then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2], member)
lasting(KEYS[1], ARGV[2])
return 1`)
)
