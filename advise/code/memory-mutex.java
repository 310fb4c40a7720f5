// nothing to install; java Job.java
import java.util.concurrent.*;
class Job {
  static class Busy extends Exception {}
  static final Semaphore LOCK = new Semaphore(1); // of one process, with which it ends: it needs no lease
  static void withLock(Callable<Void> work) throws Exception {
    if (!LOCK.tryAcquire(2, TimeUnit.SECONDS)) throw new Busy();
    try {
      work.call();
    } finally {
      LOCK.release();
    }
  }
  static Void work() throws Exception { System.out.println("holding"); return null; }
  public static void main(String[] args) throws Exception { withLock(Job::work); }
}
