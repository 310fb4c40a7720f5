# apt install python3-kazoo (or: pip install kazoo==2.8.0)
import os, secrets, kazoo.client, kazoo.exceptions
TTL_S, WAIT_S = {{ms}} / 1000, 2  # the lock ends with the session: so long after its process
class Busy(Exception): pass
def with_lock(zk, name, work):
    lock = zk.WriteLock("/locks/" + name, secrets.token_hex(16))  # a reader: ReadLock
    try:
        lock.acquire(timeout=WAIT_S)
    except kazoo.exceptions.LockTimeout as timeout:
        raise Busy(name) from timeout
    node = f"/locks/{name}/{lock.node}"
    try:
        work(zk.get(node)[1].czxid)  # of its creation: it rises with each grant
    finally:
        zk.delete(node)  # this acquire's alone; NoNodeError, where it went before, with its session
def work(token): print("token", token, flush=True)  # write with it: UPDATE ... WHERE token <= $token
zk = kazoo.client.KazooClient(os.environ.get("ZK_HOSTS", "127.0.0.1:2181"), TTL_S)
zk.start(WAIT_S + TTL_S)
try: with_lock(zk, "job", work)
finally: zk.stop()
