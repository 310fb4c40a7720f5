// npm install pg@8.23.1
// once: CREATE TABLE leases (name text PRIMARY KEY, owner text, token bigint NOT NULL, ends timestamptz NOT NULL)
import { setTimeout as sleep } from "node:timers/promises"; import pg from "pg"; const TTL = {{ms}}, WAIT = 2000;
const TAKE = `INSERT INTO leases AS l VALUES ('job', $1, 1, clock_timestamp() + $2 * interval '1 ms')
  ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, token = l.token + 1, ends = excluded.ends
  WHERE l.ends <= clock_timestamp() RETURNING token`;
const FREE = "UPDATE leases SET ends = '-infinity' WHERE name = 'job' AND owner = $1 AND ends > clock_timestamp()";
class Busy extends Error {} class Lost extends Error {}
async function withLock(db, work) {
  const owner = crypto.randomUUID(), until = performance.now() + WAIT, errors = [];
  const take = () => db.query(TAKE, [owner, TTL]); let got = await take();
  for (; got.rowCount === 0 && performance.now() < until; got = await take()) await sleep(50);
  if (got.rowCount === 0) throw new Busy("job");
  try { await work(got.rows[0].token); } catch (e) { errors.push(e); }
  try { if ((await db.query(FREE, [owner])).rowCount === 0) throw new Lost("job"); } catch (e) { errors.push(e); }
  if (errors.length > 0) throw new AggregateError(errors, errors.join("; ")); }
async function work(token) { console.log("token", token); } // write with it: UPDATE ... WHERE token <= $token
const connectionString = process.env.DATABASE_URL; // else PGHOST and the like
const db = new pg.Client({ connectionString, connectionTimeoutMillis: WAIT, query_timeout: WAIT });
try { await db.connect(); await withLock(db, work); } finally { await db.end(); }
