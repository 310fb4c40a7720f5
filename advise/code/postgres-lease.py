# apt install python3-psycopg (or: pip install "psycopg[binary]==3.1.7")
# once: CREATE TABLE leases (name text PRIMARY KEY, owner text, token bigint NOT NULL, ends timestamptz NOT NULL)
import os, secrets, time, psycopg
TTL_MS, WAIT_S, URL = {{ms}}, 2, os.getenv("DATABASE_URL", "")
TAKE = """INSERT INTO leases AS l VALUES ('job', %(me)s, 1, clock_timestamp() + %(ms)s * interval '1 ms')
  ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, token = l.token + 1, ends = excluded.ends
  WHERE l.ends <= clock_timestamp() RETURNING token"""
FREE = "UPDATE leases SET ends = '-infinity' WHERE name = 'job' AND owner = %s AND ends > clock_timestamp()"
class Busy(Exception): pass
class Lost(Exception): pass
def with_lock(db, work):
    me, until = secrets.token_hex(16), time.monotonic() + WAIT_S
    while (row := db.execute(TAKE, {"me": me, "ms": TTL_MS}).fetchone()) is None:
        if time.monotonic() > until: raise Busy("job")
        time.sleep(0.05)
    try: work(row[0])
    finally:
        if db.execute(FREE, [me]).rowcount == 0: raise Lost("the lease ended before the release")
def work(token): print("token", token, flush=True)  # write with it: UPDATE ... WHERE token <= $token
with_lock(psycopg.connect(URL, autocommit=True, connect_timeout=5, prepare_threshold=None), work)
