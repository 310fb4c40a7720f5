package redis

import (
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// NewRWLock makes redis/rwlock. A writer's hold is the key of redis/single; readers are members of a sorted set whose
// scores are the ends of their leases by the server's clock, so that each reader's release and end is its own. A writer
// that was refused keeps new readers out for the time of a few tries, else readers would starve it.
func NewRWLock(o Options) locks.Provider {
	return &scripted{name: "redis/rwlock", options: o, acquire: rwAcquire, release: rwRelease, extend: rwExtend, leave: rwLeave,
		keys: func(name string) []string {
			return []string{Key(name), TokenKey(name), Key(name) + ":readers", Key(name) + ":intent"}
		},
		extra: func(r locks.Request, o Options) []any {
			intent := time.Duration(0)
			if r.Wait > 0 {
				intent = 5 * o.retry()
			}
			return []any{r.Mode, intent.Milliseconds()}
		},
		claims: func(c *locks.Claims) { c.Shared = true }}
}

// serverNow is the server's clock in milliseconds: clients' clocks may differ, and one key's members are compared by one.
const serverNow = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

// lasting keeps a key for at least so many milliseconds.
const lasting = `
local function lasting(key, ttl)
  if redis.call('PTTL', key) < tonumber(ttl) then redis.call('PEXPIRE', key, ttl) end
end
`

// The scripts: KEYS writer, counter, readers, a waiting writer's intent; ARGV owner, TTL in ms, mode, time of an intent in ms.
var (
	rwAcquire = redis.NewScript(serverNow + lasting + `
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
if ARGV[3] == '` + history.Shared + `' then
  if redis.call('EXISTS', KEYS[1]) == 1 or redis.call('EXISTS', KEYS[4]) == 1 then return false end
  redis.call('ZADD', KEYS[3], now + ARGV[2], ARGV[1])
  lasting(KEYS[3], ARGV[2])
  return redis.call('INCR', KEYS[2])
end
if redis.call('ZCARD', KEYS[3]) == 0 and redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  if redis.call('GET', KEYS[4]) == ARGV[1] then redis.call('DEL', KEYS[4]) end
  return redis.call('INCR', KEYS[2])
end
local intent = redis.call('GET', KEYS[4])
if tonumber(ARGV[4]) > 0 and (not intent or intent == ARGV[1]) then
  redis.call('SET', KEYS[4], ARGV[1], 'PX', ARGV[4])
end
return false`)

	rwRelease = redis.NewScript(serverNow + `
if ARGV[3] == '` + history.Shared + `' then
  local ends = redis.call('ZSCORE', KEYS[3], ARGV[1])
  if not ends then return 0 end
  redis.call('ZREM', KEYS[3], ARGV[1])
  if tonumber(ends) > now then return 1 end
  return 0
end
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`)

	rwExtend = redis.NewScript(serverNow + lasting + `
if ARGV[3] == '` + history.Shared + `' then
  local ends = redis.call('ZSCORE', KEYS[3], ARGV[1])
  if not ends or tonumber(ends) <= now then return 0 end
  redis.call('ZADD', KEYS[3], now + ARGV[2], ARGV[1])
  lasting(KEYS[3], ARGV[2])
  return 1
end
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0`)

	rwLeave = redis.NewScript(`
if redis.call('GET', KEYS[4]) == ARGV[1] then return redis.call('DEL', KEYS[4]) end
return 0`)
)
