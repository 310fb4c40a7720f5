// What the page carries: facts as JSON, operations as packed columns.

const $ = (id) => document.getElementById(id);
const facts = JSON.parse($("facts").textContent);

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const binary = atob(base64);
  const out = new Uint8Array(binary.length);
  for (let i = 0; i < out.length; i++) out[i] = binary.charCodeAt(i);
  return out;
}

async function unpacked(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// integers reads n numbers of variable length: seven bits a byte, the lowest first. Numbers beyond 31 bits are put together
// by multiplication, since shifts would cut them off.
function integers(bytes, at, n, out) {
  for (let i = 0; i < n; i++) {
    let b = bytes[at++];
    if (b < 128) { out[i] = b; continue; }
    let value = b & 127, shift = 7;
    do {
      b = bytes[at++];
      value += shift < 24 ? (b & 127) << shift : (b & 127) * 2 ** shift;
      shift += 7;
    } while (b >= 128);
    out[i] = value;
  }
  return out;
}

// summed turns distances into what they are distances of; signed ones carry their sign in the lowest bit.
function summed(list, signed) {
  let sum = 0;
  for (let i = 0; i < list.length; i++) {
    const v = list[i];
    sum += signed ? (v % 2 === 0 ? v / 2 : -(v + 1) / 2) : v;
    list[i] = sum;
  }
  return list;
}

const arrays = {
  kind: Uint8Array, outcome: Uint8Array, flags: Uint8Array, client: Uint32Array, subject: Uint32Array, text: Uint32Array,
  start: Float64Array, duration: Float64Array, valid: Float64Array, grant: Float64Array, token: Float64Array, value: Float64Array, index: Float64Array,
};
const distances = { start: false, grant: true, token: true, value: true, index: true };

async function readOperations() {
  const element = $("operations");
  const bytes = await unpacked(bytesOf(element.textContent));
  element.textContent = "";
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const contents = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const ops = { n: contents.rows, texts: contents.texts, kinds: contents.kinds, outcomes: contents.outcomes, big: contents.big };
  let at = 4 + length;
  for (const c of contents.columns) {
    const list = integers(bytes, at, ops.n, new arrays[c.name](ops.n));
    ops[c.name] = c.name in distances ? summed(list, distances[c.name]) : list;
    at += c.bytes;
  }
  ops.K = Object.fromEntries(ops.kinds.map((name, i) => [name, i]));
  ops.O = Object.fromEntries(ops.outcomes.map((name, i) => [name, i]));
  return ops;
}

// ending is when a row's operation ended; its own time where it has no end.
const ending = (ops, row) => ops.duration[row] > 0 ? ops.start[row] + ops.duration[row] - 1 : ops.start[row];
const leaseOf = (ops, row) => ops.valid[row] > 0 ? ops.start[row] + ops.valid[row] - 1 : Infinity;
const tokenOf = (ops, row) => ops.big[row] || (ops.token[row] ? String(ops.token[row]) : "");
