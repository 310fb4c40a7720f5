// Lanes: clients, locks, resources, servers, faults. Each has bars and marks in the order of time; where several fall on one
// pixel the worst is drawn.

const mostLanes = 48;

// holdsOf finds the life of each grant: granted, when its lease ends, when its holder stopped counting as one.
function holdsOf(ops) {
  const { K } = ops;
  let n = 0;
  for (let i = 0; i < ops.n; i++) if (ops.kind[i] === K.acquire && granted(ops, i)) n++;
  const at = new Map(); // by grant, whose numbers may be anything in a history from elsewhere
  const held = new Map(); // by client, since its last crash
  const holds = { n: 0, row: new Uint32Array(n), from: new Float64Array(n), lease: new Float64Array(n), to: new Float64Array(n).fill(Infinity) };
  for (let i = 0; i < ops.n; i++) {
    const grant = ops.grant[i], kind = ops.kind[i];
    if (kind === K.acquire) {
      if (!granted(ops, i)) continue;
      at.set(grant, holds.n);
      if (!held.has(ops.client[i])) held.set(ops.client[i], []);
      held.get(ops.client[i]).push(holds.n);
      holds.row[holds.n] = i;
      holds.from[holds.n] = ending(ops, i);
      holds.lease[holds.n++] = leaseOf(ops, i);
    } else if (kind === K.crash) crashed(ops, holds, held, i);
    const h = at.get(grant);
    if (h === undefined) continue;
    if (kind === K.release || kind === K.lost) holds.to[h] = Math.min(holds.to[h], ops.start[i]);
    else if ((kind === K.extend || kind === K.renewed) && leaseOf(ops, i) !== Infinity) holds.lease[h] = Math.max(holds.lease[h], leaseOf(ops, i));
  }
  return holds;
}

// crashed ends what a client held when it was killed.
function crashed(ops, holds, held, row) {
  for (const h of held.get(ops.client[row]) || []) if (holds.to[h] === Infinity) holds.to[h] = ops.start[row];
  held.delete(ops.client[row]);
}

const granted = (ops, i) => ops.outcome[i] === ops.O.ok || ops.outcome[i] === ops.O.late;

// lanesOf sorts everything into lanes. Names that the header has come first, in its order.
function lanesOf(ops) {
  const holds = holdsOf(ops), byKey = new Map();
  const lane = (group, name) => {
    const key = group + "\u0000" + name;
    if (!byKey.has(key)) byKey.set(key, { group, name, holds: [], waits: [], marks: [], longest: 0 });
    return byKey.get(key);
  };
  facts.clients.forEach((n) => lane("client", n));
  facts.locks.forEach((n) => lane("lock", n));
  facts.resources.forEach((n) => lane("resource", n));
  facts.nodes.forEach((n) => lane("server", n));
  const clients = cached((i) => lane("client", ops.texts[i])), locks = cached((i) => lane("lock", ops.texts[i])), resources = cached((i) => lane("resource", ops.texts[i]));
  for (let h = 0; h < holds.n; h++) {
    const row = holds.row[h];
    clients(ops.client[row]).holds.push(h);
    locks(ops.subject[row]).holds.push(h);
  }
  for (const l of byKey.values()) l.holds.sort((a, b) => holds.from[a] - holds.from[b]); // who asked first isn't who was granted first
  const { K } = ops;
  for (let i = 0; i < ops.n; i++) {
    const k = ops.kind[i];
    if (k === K.acquire) clients(ops.client[i]).waits.push(i);
    else if (k === K.write) { clients(ops.client[i]).marks.push(i); resources(ops.subject[i]).marks.push(i); }
    else if (k === K.crash || k === K.lost) clients(ops.client[i]).marks.push(i);
  }
  const lanes = [...byKey.values()];
  for (const f of facts.faults) {
    for (const target of f.targets) for (const l of lanes) if ((l.group === "server" || l.group === "client") && l.name === target) (l.faults ||= []).push(f);
    const own = lane("fault", "#" + f.number + " " + f.kind);
    (own.faults ||= []).push(f);
  }
  return { holds, all: ordered([...byKey.values()]) };
}

function cached(make) {
  const known = new Map();
  return (i) => { let l = known.get(i); if (!l) known.set(i, l = make(i)); return l; };
}

// ordered keeps the first lanes of each group where there are too many, and faults always.
function ordered(lanes) {
  const groups = ["client", "lock", "resource", "server", "fault"].map((g) => lanes.filter((l) => l.group === g));
  const out = [], share = Math.floor(mostLanes / groups.filter((g) => g.length > 0).length);
  let leftOut = 0;
  for (const g of groups) {
    const room = Math.max(share, mostLanes - groups.reduce((n, o) => n + (o === g ? 0 : Math.min(o.length, share)), 0));
    out.push(...g.slice(0, room));
    leftOut += Math.max(g.length - room, 0);
  }
  out.leftOut = leftOut;
  return out;
}

// firstFrom is the first place in a list, ordered by time, whose time is at least t.
function firstFrom(list, timeOf, t) {
  let a = 0, b = list.length;
  while (a < b) { const m = (a + b) >> 1; if (timeOf(list[m]) < t) a = m + 1; else b = m; }
  return a;
}

function drawLanes(ops, lanes, canvas) {
  const tall = lanes.all.length > 16 ? 20 : 26, top = 24;
  const pen = begin(canvas, top + lanes.all.length * tall + 6);
  if (!pen) return;
  const x = scale(pen, view.from, view.to), bottom = pen.height - 4;
  axis(pen, x, 12, bottom);
  pen.c.save();
  pen.c.beginPath();
  pen.c.rect(left, 0, pen.plot, pen.height);
  pen.c.clip();
  lanes.all.forEach((l, n) => drawLane(ops, lanes.holds, pen, x, l, top + n * tall, tall));
  frames(pen, x, top - 2, bottom, view.from, view.to);
  cursor(pen, x, top - 2, bottom);
  pen.c.restore();
  let group = "";
  lanes.all.forEach((l, n) => {
    const y = top + n * tall;
    if (l.group !== group && n > 0) { pen.c.fillStyle = pen.colour.edge; pen.c.fillRect(0, y - 1, pen.width, 1); }
    group = l.group;
    label(pen, l.group === "client" || l.group === "fault" ? l.name : l.group + " " + l.name, y + tall / 2, l.group === "fault" ? pen.colour.fault : undefined);
  });
  lanes.tall = tall;
  lanes.top = top;
}

function drawLane(ops, holds, pen, x, lane, y, tall) {
  const c = pen.c, middle = y + tall / 2, bar = tall - 10, hatch = hatchOf(pen);
  for (const f of lane.faults || []) if (f.to >= view.from && f.from <= view.to) {
    const a = Math.max(x(f.from), left - 2), b = Math.min(x(f.to), pen.width);
    c.fillStyle = hatch;
    c.fillRect(a, y + 1, Math.max(b - a, 2), tall - 2);
    if (lane.group === "fault" && b - a > 60) { c.fillStyle = pen.colour.text; c.textAlign = "left"; c.fillText(f.text, Math.max(a, left) + 4, middle, b - a - 8); }
  }
  drawWaits(ops, pen, x, lane, middle);
  drawHolds(ops, holds, pen, x, lane, y + 5, bar);
  drawMarks(ops, pen, x, lane, middle);
}

function hatchOf(pen) {
  if (pen.hatch) return pen.hatch;
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const c = tile.getContext("2d");
  c.fillStyle = pen.colour.tint;
  c.fillRect(0, 0, 6, 6);
  c.fillStyle = pen.colour.fault;
  c.fillRect(0, 0, 1, 6);
  return pen.hatch = pen.c.createPattern(tile, "repeat");
}

function drawWaits(ops, pen, x, lane, middle) {
  const list = lane.waits, c = pen.c;
  let last = -1;
  for (let n = Math.max(firstFrom(list, (i) => ops.start[i], view.from) - 1, 0); n < list.length; n++) {
    const i = list[n];
    if (ops.start[i] > view.to) break;
    const a = x(ops.start[i]), b = ops.outcome[i] === ops.O.open ? pen.width : x(ending(ops, i));
    if (b < left || (b - a < 1 && (b | 0) === last)) continue;
    last = b | 0;
    const unsure = ops.outcome[i] === ops.O.unknown || ops.outcome[i] === ops.O.open;
    c.fillStyle = unsure ? pen.colour.muted : pen.colour.wait;
    c.fillRect(a, middle - (unsure ? 3 : 0.5), Math.max(b - a, 1), unsure ? 6 : 1);
  }
}

function drawHolds(ops, holds, pen, x, lane, y, bar) {
  const list = lane.holds, c = pen.c;
  let last = -1, late = false;
  if (lane.reach === undefined) lane.reach = longest(holds, list);
  for (let n = firstFrom(list, (h) => holds.from[h], view.from - lane.reach); n < list.length; n++) {
    const h = list[n];
    if (holds.from[h] > view.to) break;
    const to = Math.min(holds.to[h], whole);
    if (to < view.from) continue;
    const a = x(holds.from[h]), b = x(to), isLate = holds.lease[h] < to;
    if (b - a < 1 && (a | 0) === last && (late || !isLate)) continue;
    last = b | 0;
    late = isLate;
    const inTime = isLate ? Math.max(x(holds.lease[h]), a) : b;
    c.fillStyle = pen.colour.hold;
    c.fillRect(a, y, Math.max(inTime - a, isLate ? 0 : 1), bar);
    if (isLate) {
      c.fillStyle = pen.colour.bad;
      c.fillRect(inTime, y + bar / 2 - 2, Math.max(b - inTime, 1.5), 4);
      c.strokeStyle = pen.colour.bad;
      c.lineWidth = 1;
      c.setLineDash([3, 2]);
      c.strokeRect(inTime, y, Math.max(b - inTime, 1), bar);
      c.setLineDash([]);
    }
    const token = tokenOf(ops, holds.row[h]);
    if (b - a > 14 + token.length * 7 && token) { c.fillStyle = pen.colour.ground; c.textAlign = "left"; c.fillText(token, Math.max(a, left) + 4, y + bar / 2); }
  }
}

function longest(holds, list) {
  let most = 0;
  for (const h of list) most = Math.max(most, Math.min(holds.to[h], whole) - holds.from[h]);
  return most;
}

function drawMarks(ops, pen, x, lane, middle) {
  const list = lane.marks, c = pen.c;
  let last = -10;
  const worst = [];
  for (let n = firstFrom(list, (i) => ops.start[i], view.from); n < list.length; n++) {
    const i = list[n];
    if (ops.start[i] > view.to) break;
    const at = x(ending(ops, i));
    if (ops.flags[i] & 1 || ops.kind[i] !== ops.K.write) { worst.push(i); continue; }
    if (at - last < 2) continue;
    last = at;
    if (ops.outcome[i] === ops.O.rejected) cross(c, at, middle, 3, pen.colour.muted);
    else { c.fillStyle = pen.colour.text; c.fillRect(at - 1.5, middle - 1.5, 3, 3); }
  }
  last = -10;
  for (const i of worst) {
    const at = x(ending(ops, i));
    if (at - last < 1) continue;
    last = at;
    cross(c, at, middle, 5, pen.colour.bad);
  }
}

function cross(c, x, y, size, colour) {
  c.strokeStyle = colour;
  c.lineWidth = 2;
  c.beginPath();
  c.moveTo(x - size, y - size); c.lineTo(x + size, y + size);
  c.moveTo(x - size, y + size); c.lineTo(x + size, y - size);
  c.stroke();
}
