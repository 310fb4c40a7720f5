# apt install python3-redis (or: pip install redis==4.3.4)
import os, secrets, time, redis
TTL_MS, WAIT_S = {{ms}}, 2
TAKE = 'return redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) and redis.call("INCR", KEYS[2])'
FREE = 'return redis.call("GET", KEYS[1]) == ARGV[1] and redis.call("DEL", KEYS[1]) or {err = "LOST"}'
class Busy(Exception): pass
def with_lock(db, name, work):
    key, owner, until = "lock:{" + name + "}", secrets.token_hex(16), time.monotonic() + WAIT_S
    while (token := db.eval(TAKE, 2, key, key + ":token", owner, TTL_MS)) is None:
        if time.monotonic() > until:
            raise Busy(name)
        time.sleep(0.05)
    try:
        work(token)
    finally:
        db.eval(FREE, 1, key, owner)  # an error, where the lease ended before
def work(token):
    print("token", token, flush=True)  # write with it: UPDATE ... SET ..., token = $token WHERE token <= $token
url = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379")
with_lock(redis.Redis.from_url(url, socket_timeout=WAIT_S), "job", work)
