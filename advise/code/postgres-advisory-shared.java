// apt install libpostgresql-jdbc-java (42.5.5); java -cp /usr/share/java/postgresql.jar Job.java
class Job {
  static final String LIMITS = "SET lock_timeout = '2s'; SET tcp_keepalives_idle = 2; SET tcp_keepalives_interval = 1;"
    + " SET tcp_keepalives_count = 3"; // a client that vanished without a word keeps the lock for five seconds
  static final String TAKE = "SELECT pg_advisory_lock_shared(hashtextextended('job', 0))"; // writers: no _shared
  static final String FREE = "SELECT pg_advisory_unlock_shared(hashtextextended('job', 0))";
  static class Busy extends Exception {}
  static class Lost extends Exception {}
  static void free(java.sql.Statement s) throws Exception {
    try (var had = s.executeQuery(FREE)) { if (!had.next() || !had.getBoolean(1)) throw new Lost(); } }
  public static void main(String[] args) throws Exception {
    var url = System.getenv().getOrDefault("JDBC_URL", "jdbc:postgresql://127.0.0.1/postgres?user=postgres");
    try (var db = java.sql.DriverManager.getConnection(url); var s = db.createStatement()) { // the lock ends with db
      s.execute(LIMITS);
      try { s.execute(TAKE); } catch (java.sql.SQLException e) {
        throw "55P03".equals(e.getSQLState()) ? (Busy) new Busy().initCause(e) : e; } // lock_timeout has passed
      try (AutoCloseable release = () -> free(s)) { work(db); } } }
  // No token: work writes over the lock's own connection, which ends with it, and compares a version.
  static void work(java.sql.Connection db) { System.out.println("holding"); } }
