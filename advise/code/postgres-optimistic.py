# apt install python3-psycopg (or: pip install "psycopg[binary]==3.1.7")
# once: CREATE TABLE jobs (name text PRIMARY KEY, value bigint NOT NULL, version bigint NOT NULL), and a row of yours
import os, time, psycopg
WAIT_S = 2  # while others are faster. There is no lock, and so no lease: the version decides
READ = "SELECT value, version FROM jobs WHERE name = %s"
WRITE = "UPDATE jobs SET value = %s, version = version + 1 WHERE name = %s AND version = %s"
class Busy(Exception): pass
def change(db, name, work):
    until = time.monotonic() + WAIT_S
    while True:
        value, version = db.execute(READ, [name]).fetchone()
        value = work(value)  # it may run again: let nothing else come of it
        if db.execute(WRITE, [value, name, version]).rowcount == 1:
            return
        if time.monotonic() > until:
            raise Busy(name)
def work(value):
    print("value", value, flush=True)
    return value + 1
change(psycopg.connect(os.environ.get("DATABASE_URL", ""), autocommit=True, connect_timeout=5), "job", work)
