# apt install python3-etcd3 (or: pip install etcd3==0.12.0 "protobuf<4")
import os, secrets, time, etcd3
TTL_S, WAIT_S = {{s}}, 2
class Busy(Exception): pass
class Lost(Exception): pass
def with_lock(db, key, work):
    lease, until = db.lease(TTL_S), time.monotonic() + WAIT_S
    owner, its = secrets.token_hex(16), db.transactions
    try:
        while True:
            if lease.refresh()[0].TTL <= 0: raise Lost(key)  # each try has the whole lease
            got, answers = db.transaction([its.create(key) == 0], [its.put(key, owner, lease), its.get(key)], [])
            if got: break
            if time.monotonic() > until: raise Busy(key)
            time.sleep(0.05)
        work(answers[1][0][1].create_revision)
    finally: lease.revoke()  # an error, where it ended before the release
def work(token): print("token", token, flush=True)  # write with it: UPDATE ... WHERE token <= $token
host, port = os.environ.get("ETCD_ENDPOINT", "127.0.0.1:2379").rsplit(":", 1)
with_lock(etcd3.client(host, int(port), timeout=WAIT_S), "lock/job", work)
