// apt install libcurator-recipes-java (5.4.0); java -cp /usr/share/java/curator-recipes.jar Job.java
import org.apache.curator.framework.*;
class Job extends org.apache.curator.framework.recipes.locks.InterProcessMutex { // a node of a random name each time
  static class Busy extends Exception {}
  final CuratorFramework zk;
  Job(CuratorFramework zk, String path) { super(zk, path); this.zk = zk; }
  void with(java.util.function.LongConsumer work) throws Exception {
    if (!acquire(2, java.util.concurrent.TimeUnit.SECONDS)) throw new Busy();
    var node = getLockPath();
    try (AutoCloseable last = this::release; AutoCloseable first = () -> zk.delete().forPath(node)) { // no node: lost
      work.accept(zk.checkExists().forPath(node).getCzxid()); } } // its creation's number rises with each grant
  static void work(long token) { System.out.println("token " + token); } // write with it: UPDATE ... WHERE token <= ?
  public static void main(String[] args) throws Exception {
    int session = {{ms}}; // milliseconds: the lock ends so long after its process
    var hosts = System.getenv().getOrDefault("ZK_HOSTS", "127.0.0.1:2181");
    var retry = new org.apache.curator.retry.RetryOneTime(100);
    try (var zk = CuratorFrameworkFactory.newClient(hosts, session, session, retry)) {
      zk.start();
      new Job(zk, "/job").with(Job::work); } } }
