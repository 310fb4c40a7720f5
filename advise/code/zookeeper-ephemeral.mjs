// npm install node-zookeeper-client@1.1.3
import { once } from "node:events"; import { promisify } from "node:util";
import { setTimeout as sleep } from "node:timers/promises"; import zookeeper from "node-zookeeper-client";
const TTL = {{ms}}, WAIT = 2000, MODE = zookeeper.CreateMode.EPHEMERAL_SEQUENTIAL; // TTL: of the session
class Busy extends Error {}
async function withLock(zk, dir, work) {
  const ask = (name, ...args) => promisify(zk[name]).call(zk, ...args), errors = [], until = performance.now() + WAIT;
  await ask("mkdirp", dir);
  const path = await ask("create", `${dir}/${crypto.randomUUID()}-`, null, zookeeper.ACL.OPEN_ACL_UNSAFE, MODE);
  const number = (name) => name.slice(-10), first = (names) => names.map(number).sort()[0] === number(path);
  try {
    for (; !first(await ask("getChildren", dir)); await sleep(50)) if (performance.now() > until) throw new Busy(dir);
    await work((await ask("exists", path)).czxid.readBigInt64BE()); // of the node's creation: it rises with each grant
  } catch (e) { errors.push(e); }
  await ask("remove", path).catch((e) => errors.push(e)); // this acquire's alone; an error, where it went before
  if (errors.length > 0) throw new AggregateError(errors, errors.join("; ")); }
async function work(token) { console.log("token", token); } // write with it: UPDATE ... WHERE token <= $token
const zk = zookeeper.createClient(process.env.ZK_HOSTS ?? "127.0.0.1:2181", { sessionTimeout: TTL });
zk.connect(); await once(zk, "connected", { signal: AbortSignal.timeout(WAIT) });
try { await withLock(zk, "/job", work); } finally { zk.close(); }
