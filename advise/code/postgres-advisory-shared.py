# apt install python3-psycopg (or: pip install "psycopg[binary]==3.1.7")
import os, psycopg
LIMITS = """SET lock_timeout = '2s'; SET tcp_keepalives_idle = 2; SET tcp_keepalives_interval = 1;
  SET tcp_keepalives_count = 3"""  # a client that vanished without a word keeps the lock for five seconds
TAKE = "SELECT pg_advisory_lock_shared(hashtextextended(%s, 0))"  # of readers; a writer's is without _shared
FREE = "SELECT pg_advisory_unlock_shared(hashtextextended(%s, 0))"
class Busy(Exception): pass
class Lost(Exception): pass
def with_lock(name, work):
    with psycopg.connect(os.environ.get("DATABASE_URL", ""), autocommit=True, connect_timeout=5) as db:  # has the lock
        db.execute(LIMITS)
        try:
            db.execute(TAKE, [name])
        except psycopg.errors.LockNotAvailable as timeout:
            raise Busy(name) from timeout
        try: work(db)
        finally:
            if not db.execute(FREE, [name]).fetchone()[0]: raise Lost(name)
def work(db): print("holding", flush=True)  # no token: write over db, which ends with the lock, and compare a version
with_lock("job", work)
