package redis

import "github.com/redis/go-redis/v9"

// The scripts run as one step each at the server.
var (
	// acquireScript: KEYS lock, counter; ARGV owner, TTL in ms. Returns the token, or nil where the lock is held. The
	// token is counted in the step that grants, so its order is the order of the grants.
	acquireScript = redis.NewScript(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return redis.call('INCR', KEYS[2])
end
return false`)

	// releaseScript: KEYS lock; ARGV owner. Returns 1 if the lock was the owner's.
	releaseScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0`)

	// extendScript: KEYS lock; ARGV owner, TTL in ms. Returns 1 if the lock is the owner's.
	extendScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0`)
)
