// The table of operations: only the rows in sight exist. Text comes in as text, whatever it holds.

const rowHeight = 24, tallest = 12e6; // px: beyond, browsers draw no element
const heads = ["time", "client", "operation", "lock, resource", "outcome", "token", "took", "grant", "note"];

const list = { ops: null, rows: null, at: -1, terms: "" };

function cells(ops, i) {
  const open = ops.outcome[i] === ops.O.open;
  const note = [];
  if (ops.flags[i] & 1) note.push("STALE");
  if (ops.flags[i] & 2) note.push("shows a violation");
  if (ops.flags[i] & 4) note.push("shared");
  if (ops.value[i] && (ops.kind[i] === ops.K.write || ops.kind[i] === ops.K.read)) note.push("version " + ops.value[i]);
  if (ops.texts[ops.text[i]]) note.push(ops.texts[ops.text[i]]);
  return [seconds(ops.start[i]), ops.texts[ops.client[i]], ops.kinds[ops.kind[i]], ops.texts[ops.subject[i]], open ? "no end" : ops.outcomes[ops.outcome[i]],
    tokenOf(ops, i), ops.duration[i] > 0 ? span(ops.duration[i] - 1) : "", ops.grant[i] > 0 ? "#" + ops.grant[i] : "", note.join(" · ")];
}

function classOf(ops, i) {
  if (ops.flags[i] & 3) return "row wrong";
  if (ops.outcome[i] === ops.O.unknown || ops.outcome[i] === ops.O.open) return "row doubtful";
  if (ops.kinds[ops.kind[i]].startsWith("fault")) return "row of-fault";
  return "row";
}

const fullHeight = () => list.rows.length * rowHeight;
const spaceHeight = () => Math.min(fullHeight(), tallest);

// firstRow is the row at the top: the scrollbar stands for all rows, also where they are more than an element may be tall.
function firstRow() {
  const box = $("rows"), room = box.clientHeight - rowHeight;
  if (fullHeight() <= tallest) return Math.floor(box.scrollTop / rowHeight);
  const share = box.scrollTop / Math.max(spaceHeight() - room, 1);
  return Math.floor(share * Math.max(list.rows.length - Math.floor(room / rowHeight), 0));
}

function drawRows() {
  const { ops, rows } = list, body = $("rows-body"), first = Math.max(firstRow(), 0);
  const shown = Math.min(rows.length - first, Math.ceil($("rows").clientHeight / rowHeight) + 1);
  const fragment = document.createDocumentFragment();
  for (let n = first; n < first + shown; n++) {
    const row = document.createElement("div");
    row.className = classOf(ops, rows[n]) + (n === list.at ? " chosen" : "");
    row.setAttribute("role", "row");
    row.dataset.n = n;
    for (const text of cells(ops, rows[n])) {
      const cell = document.createElement("span");
      cell.setAttribute("role", "cell");
      cell.textContent = text;
      row.append(cell);
    }
    fragment.append(row);
  }
  body.replaceChildren(fragment);
  body.style.transform = "translateY(" + (fullHeight() <= tallest ? first * rowHeight : Math.min($("rows").scrollTop, Math.max(spaceHeight() - shown * rowHeight, 0))) + "px)";
}

function scrollToRow(n) {
  const box = $("rows"), room = Math.max(box.clientHeight - 2 * rowHeight, rowHeight);
  if (fullHeight() > tallest) {
    const visible = Math.floor(room / rowHeight);
    const first = firstRow();
    if (n < first || n >= first + visible) box.scrollTop = Math.max(n - visible / 2, 0) / Math.max(list.rows.length - visible, 1) * (spaceHeight() - room);
  } else if (n * rowHeight < box.scrollTop) box.scrollTop = n * rowHeight;
  else if ((n + 1) * rowHeight > box.scrollTop + room) box.scrollTop = (n + 1) * rowHeight - room;
}

// choose makes the nth of the filtered rows the chosen one, here and in the pictures.
function choose(n) {
  if (!list.rows.length) return;
  list.at = Math.min(Math.max(n, 0), list.rows.length - 1);
  const row = list.rows[list.at];
  view.chosen = row;
  scrollToRow(list.at);
  drawRows();
  describe(row);
  reveal(list.ops.start[row]);
}

function describe(row) {
  const { ops } = list, names = heads, values = cells(ops, row);
  const more = ["event " + ops.index[row] + " of the history"];
  if (ops.valid[row] > 0) more.push("lease valid until " + seconds(leaseOf(ops, row)) + " s");
  if (ops.duration[row] > 0) more.push("ended at " + seconds(ending(ops, row)) + " s");
  $("detail").textContent = values.map((v, i) => v && names[i] + ": " + v).filter(Boolean).concat(more).join(" · ");
}

// micros reads a time of the run: 12, 12.5, 12s or 1500ms; nothing is 0.
const micros = (text) => text.endsWith("ms") ? Number(text.slice(0, -2)) * 1e3 : Number(text.replace(/s$/, "")) * 1e6;

// predicate makes a test of one term; a list of wanted text numbers where a term is about names, so that each row is quick.
function predicate(ops, term) {
  const at = term.indexOf(":"), key = at > 0 ? term.slice(0, at).toLowerCase() : "", value = term.slice(at + 1).toLowerCase();
  const texts = (match) => Uint8Array.from(ops.texts, (t) => (match(t.toLowerCase()) ? 1 : 0));
  const places = (names, match) => Uint8Array.from(names, (n) => (match(n) ? 1 : 0));
  switch (key) {
    case "client": { const w = texts((t) => t === value); return (i) => w[ops.client[i]]; }
    case "lock": case "resource": { const w = texts((t) => t.includes(value)); return (i) => w[ops.subject[i]]; }
    case "op": { const w = places(ops.kinds, (n) => n === value || n.startsWith(value)); return (i) => w[ops.kind[i]]; }
    case "outcome": case "result": { const w = places(ops.outcomes, (n) => n === value || value === "unknown" && n === "open"); return (i) => w[ops.outcome[i]]; }
    case "token": return (i) => tokenOf(ops, i) === value;
    case "grant": { const g = Number(value.replace("#", "")); return (i) => ops.grant[i] === g; }
    case "took": { const us = Number(value.replace(/[^0-9.]/g, "")) * 1e3; return (i) => ops.duration[i] - 1 >= us; }
    case "is": return value === "stale" ? (i) => ops.flags[i] & 1 : value === "violation" ? (i) => ops.flags[i] & 3 : () => false;
    case "t": {
      const [from, to] = value.split("..").map(micros);
      const until = to === undefined ? from + 1e6 : to || Infinity;
      // An operation belongs to every moment that it lasted; one without an end, to every moment from its call on.
      return (i) => ops.start[i] <= until && (ops.outcome[i] === ops.O.open ? whole : ending(ops, i)) >= from;
    }
  }
  const word = term.toLowerCase(), w = texts((t) => t.includes(word)), k = places(ops.kinds, (n) => n.includes(word)), o = places(ops.outcomes, (n) => n.includes(word));
  return (i) => w[ops.text[i]] || w[ops.subject[i]] || w[ops.client[i]] || k[ops.kind[i]] || o[ops.outcome[i]];
}

function filterRows(text) {
  const { ops } = list, tests = text.split(/\s+/).filter(Boolean).map((t) => predicate(ops, t));
  const out = new Uint32Array(ops.n);
  let n = 0;
  for (let i = 0; i < ops.n; i++) if (tests.every((t) => t(i))) out[n++] = i;
  list.rows = out.subarray(0, n);
  list.at = -1;
  list.terms = text;
  $("rows-space").style.height = spaceHeight() + "px";
  $("rows").scrollTop = 0;
  $("matches").textContent = grouped(n) + " of " + grouped(ops.n);
  drawRows();
}

// nearest is the place among the filtered rows of the first one from a moment on.
const nearest = (us) => Math.min(firstFrom(list.rows, (i) => list.ops.start[i], us), list.rows.length - 1);

function startTable(ops) {
  list.ops = ops;
  for (const head of heads) {
    const cell = document.createElement("span");
    cell.setAttribute("role", "columnheader");
    cell.textContent = head;
    $("rows-head").append(cell);
  }
  filterRows("");
  $("rows").addEventListener("scroll", () => requestAnimationFrame(drawRows));
  $("rows-body").addEventListener("click", (e) => { const row = e.target.closest(".row"); if (row) choose(Number(row.dataset.n)); });
  let timer = 0;
  $("filter").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => filterRows($("filter").value), 80); });
  for (const b of document.querySelectorAll("[data-filter]")) b.addEventListener("click", () => { $("filter").value = b.dataset.filter; filterRows(b.dataset.filter); });
}
