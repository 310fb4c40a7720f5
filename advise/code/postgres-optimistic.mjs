// npm install pg@8.23.1
// once: CREATE TABLE jobs (name text PRIMARY KEY, value bigint NOT NULL, version bigint NOT NULL), and a row of yours
import pg from "pg";
const WAIT = 2000; // while others are faster. There is no lock, and so no lease: the version decides
const READ = "SELECT value, version FROM jobs WHERE name = $1";
const WRITE = "UPDATE jobs SET value = $3, version = version + 1 WHERE name = $1 AND version = $2";
class Busy extends Error {}
async function change(db, name, work) {
  for (const until = performance.now() + WAIT; ; ) {
    const { value, version } = (await db.query(READ, [name])).rows[0];
    const next = await work(BigInt(value)); // it may run again: let nothing else come of it
    if ((await db.query(WRITE, [name, version, next])).rowCount === 1) return;
    if (performance.now() > until) throw new Busy(name);
  }
}
async function work(value) { console.log("value", value); return value + 1n; }
const connectionString = process.env.DATABASE_URL; // else PGHOST and the like
const db = new pg.Client({ connectionString, connectionTimeoutMillis: WAIT, query_timeout: WAIT });
try { await db.connect(); await change(db, "job", work); } finally { await db.end(); }
