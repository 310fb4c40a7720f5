// apt install libpostgresql-jdbc-java (42.5.5); java -cp /usr/share/java/postgresql.jar Job.java
// once: CREATE TABLE leases (name text PRIMARY KEY, owner text, token bigint NOT NULL, ends timestamptz NOT NULL)
class Job {
  static final String TAKE = "INSERT INTO leases AS l VALUES ('job', ?, 1, clock_timestamp() + {{ms}} * interval '1ms')"
    + " ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, token = l.token + 1, ends = excluded.ends"
    + " WHERE l.ends <= clock_timestamp() RETURNING token", FREE = "UPDATE leases SET ends = '-infinity'"
    + " WHERE name = 'job' AND owner = ? AND ends > clock_timestamp()";
  static class Busy extends Exception {} static class Lost extends Exception {}
  static void withLock(java.sql.Connection db, java.util.function.LongConsumer work) throws Exception {
    try (var take = db.prepareStatement(TAKE); var free = db.prepareStatement(FREE)) {
      var owner = java.util.UUID.randomUUID().toString(); take.setString(1, owner); free.setString(1, owner);
      var row = take.executeQuery(); var until = System.nanoTime() + 2_000_000_000L;
      for (; !row.next(); row = take.executeQuery())
        if (System.nanoTime() < until) Thread.sleep(50); else throw new Busy();
      long token = row.getLong(1);
      try (AutoCloseable end = () -> { if (free.executeUpdate() == 0) throw new Lost(); }) { work.accept(token); } } }
  static void work(long token) { System.out.println("token " + token); } // write with it: UPDATE ... WHERE token <= ?
  public static void main(String[] args) throws Exception { // a pooler needs prepareThreshold=0
    var url = System.getenv().getOrDefault("JDBC_URL", "jdbc:postgresql://127.0.0.1/postgres?user=postgres");
    try (var db = java.sql.DriverManager.getConnection(url)) { withLock(db, Job::work); } } }
