# nothing to install
import threading
WAIT_S = 2
class Busy(Exception): pass
lock = threading.Lock()  # of one process, with which it ends: no lease, and no other process is kept out
def with_lock(work):
    if not lock.acquire(timeout=WAIT_S):
        raise Busy()
    try:
        work()
    finally:
        lock.release()
def work():
    print("holding", flush=True)
with_lock(work)
