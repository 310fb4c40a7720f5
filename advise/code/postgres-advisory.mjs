// npm install pg@8.23.1
import pg from "pg";
const LIMITS = `SET lock_timeout = '2s'; SET tcp_keepalives_idle = 2; SET tcp_keepalives_interval = 1;
  SET tcp_keepalives_count = 3`; // a client that vanished without a word keeps the lock for five seconds
const TAKE = "SELECT pg_advisory_lock(hashtextextended($1, 0))";
const FREE = "SELECT pg_advisory_unlock(hashtextextended($1, 0)) AS had";
class Busy extends Error {}
class Lost extends Error {}
async function withLock(db, name, work) {
  const errors = [];
  await db.query(LIMITS);
  try { await db.query(TAKE, [name]); } catch (e) { throw e.code === "55P03" ? new Busy(name, { cause: e }) : e; }
  try { await work(db); } catch (e) { errors.push(e); }
  try { if (!(await db.query(FREE, [name])).rows[0].had) throw new Lost(name); } catch (e) { errors.push(e); }
  if (errors.length > 0) throw new AggregateError(errors, errors.join("; "));
}
async function work(db) { console.log("holding"); } // no token: write over db, which ends with the lock
const connectionString = process.env.DATABASE_URL; // else PGHOST and the like
const db = new pg.Client({ connectionString, connectionTimeoutMillis: 2000, query_timeout: 4000 });
try { await db.connect(); await withLock(db, "job", work); } finally { await db.end(); }
