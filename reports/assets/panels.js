// The mini-map of the whole run, and latency, grants and availability under the time axis of the lanes.

const levels = 20; // of latency, to a factor of ten

// measures are what panels need of each acquire: when it ended, in which level of latency, what became of it.
function measuresOf(ops) {
  const { K, O } = ops;
  let n = 0;
  for (let i = 0; i < ops.n; i++) if (ops.kind[i] === K.acquire) n++;
  const m = { n, at: new Float64Array(n), level: new Uint8Array(n), fate: new Uint8Array(n), low: 255, high: 0, row: new Uint32Array(n) };
  let j = 0;
  for (let i = 0; i < ops.n; i++) {
    if (ops.kind[i] !== K.acquire) continue;
    m.row[j] = i;
    m.at[j] = ops.start[i];
    const o = ops.outcome[i];
    m.fate[j] = granted(ops, i) ? 2 : o === O.busy ? 1 : 0;
    if (m.fate[j] === 2) {
      m.level[j] = Math.min(254, Math.max(0, Math.round(Math.log10(Math.max(ops.duration[i] - 1, 1)) * levels)));
      m.low = Math.min(m.low, m.level[j]);
      m.high = Math.max(m.high, m.level[j]);
    }
    j++;
  }
  if (m.high < m.low) { m.low = 3 * levels; m.high = 6 * levels; }
  m.low = Math.floor(m.low / levels) * levels;
  m.high = Math.max(Math.ceil((m.high + 1) / levels) * levels, m.low + levels);
  m.bins = mapBins(ops);
  return m;
}

function mapBins(ops) {
  const bins = new Uint32Array(400);
  for (let i = 0; i < ops.n; i++) bins[Math.min(399, Math.floor(ops.start[i] / whole * 400))]++;
  return bins;
}

function drawMap(m, canvas) {
  const pen = begin(canvas, 56);
  if (!pen) return;
  const x = scale(pen, 0, whole), most = m.bins.reduce((a, b) => Math.max(a, b), 1);
  bands(pen, x, 0, 56, 0, whole);
  pen.c.fillStyle = pen.colour.muted;
  m.bins.forEach((n, i) => { const h = n / most * 44; pen.c.fillRect(left + i / 400 * pen.plot, 54 - h, Math.max(pen.plot / 400 - 0.5, 0.5), h); });
  pen.c.fillStyle = pen.colour.bad;
  for (const v of facts.violations) pen.c.fillRect(x(v.at) - 1, 0, 2.5, 56);
  pen.c.strokeStyle = pen.colour.text;
  pen.c.lineWidth = 1.5;
  pen.c.strokeRect(x(view.from), 1, Math.max(x(view.to) - x(view.from), 2), 54);
  label(pen, "whole run", 28, pen.colour.muted);
}

function drawPanels(m, canvas) {
  const pen = begin(canvas, 340);
  if (!pen) return;
  const x = scale(pen, view.from, view.to);
  bands(pen, x, 20, 336, view.from, view.to);
  axis(pen, x, 10, 336);
  const first = firstFrom(m.at, (t) => t, view.from);
  let last = first;
  while (last < m.n && m.at[last] <= view.to) last++;
  drawLatency(m, pen, x, first, last);
  const bins = Math.max(Math.min(160, Math.floor(pen.plot / 6), Math.max(last - first >> 2, 40)), 1);
  const sums = binned(m, first, last, bins);
  drawGrants(pen, sums, bins);
  drawAvailability(pen, sums, bins);
  pen.c.save();
  pen.c.beginPath();
  pen.c.rect(left, 0, pen.plot, pen.height);
  pen.c.clip();
  frames(pen, x, 20, 336, view.from, view.to);
  cursor(pen, x, 20, 336);
  pen.c.restore();
}

function drawLatency(m, pen, x, first, last) {
  const top = 26, bottom = 186, c = pen.c;
  const y = (level) => bottom - (level - m.low) / (m.high - m.low) * (bottom - top);
  label(pen, "acquire", 22);
  for (let l = m.low; l <= m.high; l += levels) {
    c.fillStyle = pen.colour.grid;
    c.fillRect(left, y(l), pen.plot, 1);
    if (l > m.low || m.high - m.low < 3 * levels) label(pen, span(10 ** (l / levels)), Math.max(y(l), 36), pen.colour.muted);
  }
  c.fillStyle = pen.colour.hold;
  const size = last - first < 200 ? 5 : 2.5;
  if (last - first < 3000) {
    for (let i = first; i < last; i++) {
      if (m.fate[i] === 2) c.fillRect(x(m.at[i]) - size / 2, y(m.level[i]) - size / 2, size, size);
    }
  } else drawQuantiles(m, pen, first, last, y);
  c.fillStyle = pen.colour.bad; // what got no answer has no latency: it stands on a strip of its own
  let seen = -1;
  for (let i = first; i < last; i++) if (m.fate[i] === 0 && (x(m.at[i]) | 0) !== seen) { seen = x(m.at[i]) | 0; c.fillRect(seen, 20, 1.5, 5); }
}

function drawQuantiles(m, pen, first, last, y) {
  const columns = Math.floor(pen.plot / 3), wide = 256, all = new Uint32Array(columns * wide), sums = new Uint32Array(columns);
  for (let i = first; i < last; i++) {
    if (m.fate[i] !== 2) continue;
    const col = Math.min(columns - 1, Math.floor((m.at[i] - view.from) / (view.to - view.from) * columns));
    all[col * wide + m.level[i]]++;
    sums[col]++;
  }
  const c = pen.c;
  for (let col = 0; col < columns; col++) {
    if (!sums[col]) continue;
    const q = [0.5, 0.99, 1].map((share) => { let n = 0, l = 0; for (; l < wide; l++) { n += all[col * wide + l]; if (n >= share * sums[col]) break; } return y(l); });
    const px = left + col * 3;
    c.fillStyle = pen.colour.wait;
    c.fillRect(px, q[2], 2, Math.max(q[1] - q[2], 1));
    c.fillStyle = pen.colour.hold;
    c.fillRect(px, q[1], 2, Math.max(q[0] - q[1], 1));
    c.fillStyle = pen.colour.text;
    c.fillRect(px, q[0] - 1, 3, 2);
  }
}

function binned(m, first, last, bins) {
  const s = { all: new Uint32Array(bins), granted: new Uint32Array(bins), answered: new Uint32Array(bins) };
  for (let i = first; i < last; i++) {
    const b = Math.min(bins - 1, Math.floor((m.at[i] - view.from) / (view.to - view.from) * bins));
    s.all[b]++;
    if (m.fate[i] > 0) s.answered[b]++;
    if (m.fate[i] === 2) s.granted[b]++;
  }
  return s;
}

function drawGrants(pen, s, bins) {
  const top = 200, bottom = 258, most = s.granted.reduce((a, b) => Math.max(a, b), 1), wide = pen.plot / bins;
  const perSecond = most / ((view.to - view.from) / bins / 1e6);
  label(pen, "grants/s", top + 10);
  label(pen, perSecond >= 10 ? grouped(Math.round(perSecond)) : perSecond.toPrecision(2), top + 28, pen.colour.muted);
  pen.c.fillStyle = pen.colour.edge;
  pen.c.fillRect(left, bottom, pen.plot, 1);
  pen.c.fillStyle = pen.colour.hold;
  for (let b = 0; b < bins; b++) { const h = s.granted[b] / most * (bottom - top); pen.c.fillRect(left + b * wide, bottom - h, Math.max(wide - 1, 1), h); }
}

function drawAvailability(pen, s, bins) {
  const top = 274, bottom = 332, wide = pen.plot / bins;
  label(pen, "available", top + 10);
  label(pen, "100 % on top", top + 28, pen.colour.muted);
  pen.c.fillStyle = pen.colour.good;
  pen.c.fillRect(left, top - 1, pen.plot, 1.5);
  pen.c.fillStyle = pen.colour.edge;
  pen.c.fillRect(left, bottom, pen.plot, 1);
  pen.c.fillStyle = pen.colour.bad;
  for (let b = 0; b < bins; b++) if (s.all[b]) { const h = (1 - s.answered[b] / s.all[b]) * (bottom - top); pen.c.fillRect(left + b * wide, top, Math.max(wide - 0.5, 1), h); }
}
