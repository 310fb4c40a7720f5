// apt install libpostgresql-jdbc-java (42.5.5); java -cp /usr/share/java/postgresql.jar Job.java
// once: CREATE TABLE jobs (name text PRIMARY KEY, value bigint NOT NULL, version bigint NOT NULL), and a row of yours
class Job {
  static final String READ = "SELECT value, version FROM jobs WHERE name = 'job'"; // no lock: the version decides
  static final String WRITE = "UPDATE jobs SET value = ?, version = version + 1 WHERE name = 'job' AND version = ?";
  static class Busy extends Exception {} // others were faster
  static void change(java.sql.Connection db, java.util.function.LongUnaryOperator work) throws Exception {
    try (var read = db.prepareStatement(READ); var write = db.prepareStatement(WRITE)) {
      for (long until = System.nanoTime() + 2_000_000_000L; ; ) {
        try (var row = read.executeQuery()) {
          if (!row.next()) throw new IllegalStateException("there is no such row");
          write.setLong(1, work.applyAsLong(row.getLong(1))); // it may run again: let nothing else come of it
          write.setLong(2, row.getLong(2)); }
        if (write.executeUpdate() == 1) return;
        if (System.nanoTime() - until > 0) throw new Busy(); } } }
  static long work(long value) { System.out.println("value " + value); return value + 1; }
  public static void main(String[] args) throws Exception {
    var url = System.getenv().getOrDefault("JDBC_URL", "jdbc:postgresql://127.0.0.1/postgres?user=postgres");
    try (var db = java.sql.DriverManager.getConnection(url)) { change(db, Job::work); } } }
