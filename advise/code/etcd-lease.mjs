// npm install etcd3@1.1.2
import { setTimeout as sleep } from "node:timers/promises"; import { Etcd3 } from "etcd3";
const TTL_S = {{s}}, WAIT = 2000;
class Busy extends Error {}
async function withLock(db, key, work) {
  const lease = db.lease(TTL_S, { autoKeepAlive: false }), errors = [], until = performance.now() + WAIT;
  const id = await lease.grant(); // the owner: a new one each time
  const take = () => db.if(key, "Create", "==", 0).then(db.put(key).value(id).lease(id)).commit();
  try {
    let got = await take();
    for (; !got.succeeded && performance.now() < until; got = await take()) {
      await sleep(50); await lease.keepaliveOnce(); } // each try has the whole lease
    if (!got.succeeded) throw new Busy(key);
    await work(got.header.revision);
  } catch (e) { errors.push(e); }
  await db.leaseClient.leaseRevoke({ ID: id }).catch((e) => errors.push(e)); // an error, too, where it ended before
  if (errors.length > 0) throw new AggregateError(errors, errors.join("; ")); }
async function work(token) { console.log("token", token); } // write with it: UPDATE ... WHERE token <= $token
const db = new Etcd3({ hosts: process.env.ETCD_ENDPOINT ?? "127.0.0.1:2379" });
try { await withLock(db, "lock/job", work); } finally { db.close(); }
