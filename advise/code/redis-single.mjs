// npm install ioredis@6.0.0
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
const TTL = {{ms}}, WAIT = 2000;
const TAKE = 'return redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) and redis.call("INCR", KEYS[2])';
const FREE = 'return redis.call("GET", KEYS[1]) == ARGV[1] and redis.call("DEL", KEYS[1]) or {err = "LOST"}';
class Busy extends Error {}
async function withLock(db, key, work) {
  const owner = crypto.randomUUID(), until = performance.now() + WAIT, errors = [];
  const take = () => db.eval(TAKE, 2, key, key + ":token", owner, TTL);
  let token;
  for (token = await take(); token === null && performance.now() < until; token = await take()) await sleep(50);
  if (token === null) throw new Busy(key);
  try { await work(token); } catch (e) { errors.push(e); }
  await db.eval(FREE, 1, key, owner).catch((e) => errors.push(e)); // an error, too, where the lease ended before
  if (errors.length > 0) throw new AggregateError(errors, errors.join("; "));
}
async function work(token) { console.log("token", token); } // write with it: UPDATE ... WHERE token <= $token
const db = new Redis(process.env.REDIS_URL ?? "redis://127.0.0.1:6379", { commandTimeout: WAIT });
try { await withLock(db, "lock:{job}", work); } finally { db.disconnect(); }
