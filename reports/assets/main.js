// The page comes alive: theme, keys, links into it, and the pictures once the operations are read.

document.documentElement.classList.add("scripted");

function theme(name) {
  if (name) document.documentElement.dataset.theme = name;
  try { if (name) localStorage.setItem("locktest-theme", name); } catch { /* a page from a file may not have any */ }
  redraw();
}
function otherTheme() {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  theme(dark ? "light" : "dark");
}
try { theme(localStorage.getItem("locktest-theme")); } catch { /* as above */ }
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
$("theme").addEventListener("click", otherTheme);

let violation = -1, fault = -1;

// visit shows a violation with some room around it, and its story where that is told.
function visit(n, scroll = true) {
  if (!facts.violations.length) return;
  violation = (n + facts.violations.length) % facts.violations.length;
  const v = facts.violations[violation], room = Math.max(v.until - v.at, 100e3) * 2;
  show(v.at - room, v.until + room);
  reveal(v.at);
  $("window").dataset.violation = String(violation + 1);
  $("status").textContent = "violation " + (violation + 1) + " of " + facts.violations.length + ", at " + seconds(v.at) + " s: " + v.text;
  if (scroll) $("run").scrollIntoView({ block: "start" });
}

function visitFault() {
  if (!facts.faults.length) return;
  fault = (fault + 1) % facts.faults.length;
  const f = facts.faults[fault], room = Math.max(f.to - f.from, 100e3) / 2;
  show(f.from - room, f.to + room);
  reveal(f.from);
  $("status").textContent = "fault " + f.number + ", from " + seconds(f.from) + " to " + seconds(f.to) + " s: " + f.text;
}

function sameClient(step) {
  const { ops, rows } = list, client = rows.length && ops.client[rows[Math.max(list.at, 0)]];
  for (let n = list.at + step; n >= 0 && n < rows.length; n += step) if (ops.client[rows[n]] === client) return choose(n);
}

function leave() {
  if (document.activeElement && document.activeElement !== document.body) document.activeElement.blur();
  if ($("filter").value) { $("filter").value = ""; filterRows(""); }
  view.cursor = -1;
  $("detail").textContent = "";
  list.at = -1;
  drawRows();
  show(0, whole);
}

const keys = {
  n: () => visit(violation + 1), p: () => visit(violation - 1), f: visitFault, t: otherTheme,
  j: () => choose(list.at + 1), k: () => choose(list.at - 1), "]": () => sameClient(1), "[": () => sameClient(-1),
  h: () => move(-0.25), l: () => move(0.25), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: () => show(0, whole),
  "/": () => { $("filter").focus(); $("filter").select(); }, "?": () => document.querySelector("footer").scrollIntoView(), Escape: leave,
};

addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const typing = e.target instanceof HTMLInputElement;
  if (typing && e.key !== "Escape") return;
  const act = keys[e.key];
  if (!act || !list.ops) return;
  e.preventDefault();
  act();
});

// follow understands links into the page: #t=12.004, #t=12..16, #v=1, #op=18231, #q=client:c2.
function follow() {
  const [, key, value] = /^#(\w+)=(.*)$/.exec(decodeURIComponent(location.hash)) || [];
  const [from, to] = (value || "").split("..").map((s) => Number(s) * 1e6);
  switch (key) {
    case "t":
      if (to > from) show(from, to);
      else { const half = Math.min(2e6, whole / 2); show(from - half, from + half); reveal(from); }
      $("run").scrollIntoView({ block: "start" });
      break;
    case "v": visit(Number(value) - 1); break;
    case "op": { const n = list.rows.findIndex((i) => list.ops.index[i] >= Number(value)); if (n >= 0) { choose(n); $("table").scrollIntoView(); } break; }
    case "q": $("filter").value = value; filterRows(value); $("table").scrollIntoView(); break;
  }
}

// drags calls back with the times between which a pointer is dragged.
function drags(canvas, range, moved, ended) {
  let from = null;
  canvas.addEventListener("pointerdown", (e) => { from = { t: timeAt(canvas, e, ...range()), x: e.clientX, view: [view.from, view.to] }; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointermove", (e) => { if (from && Math.abs(e.clientX - from.x) > 3) moved(from, e); });
  canvas.addEventListener("pointerup", (e) => { if (from && Math.abs(e.clientX - from.x) <= 3) ended(e); from = null; });
}

function startPictures(ops) {
  const lanes = lanesOf(ops), measures = measuresOf(ops);
  const map = $("map"), field = $("lanes"), panels = $("panels");
  view.listeners.push(() => drawMap(measures, map), () => drawLanes(ops, lanes, field), () => drawPanels(measures, panels),
    () => { $("window").textContent = seconds(view.from) + " to " + seconds(view.to) + " s (" + span(view.to - view.from) + ")"; });
  if (lanes.all.leftOut) $("lanes-left").textContent = grouped(lanes.all.leftOut) + " more lanes aren't drawn; the table has their operations.";
  drags(map, () => [0, whole], (from, e) => { const t = timeAt(map, e, 0, whole); show(Math.min(from.t, t), Math.max(from.t, t)); }, (e) => { const t = timeAt(map, e, 0, whole), half = (view.to - view.from) / 2; show(t - half, t + half); });
  for (const canvas of [field, panels]) {
    drags(canvas, () => [view.from, view.to], (from, e) => { const by = (e.clientX - from.x) / Math.max(canvas.clientWidth - left - right, 10) * (from.view[1] - from.view[0]); show(from.view[0] - by, from.view[1] - by); },
      (e) => choose(nearest(timeAt(canvas, e, view.from, view.to))));
    canvas.addEventListener("wheel", (e) => { if (!e.ctrlKey && !e.shiftKey) return; e.preventDefault(); zoom((e.deltaY || e.deltaX) > 0 ? 1.25 : 0.8, timeAt(canvas, e, view.from, view.to)); }, { passive: false });
  }
  for (const b of document.querySelectorAll("[data-key]")) b.addEventListener("click", () => keys[b.dataset.key]());
  addEventListener("resize", redraw);
}

async function start() {
  if (typeof DecompressionStream === "undefined") {
    $("status").textContent = "This browser can't unpack the operations (it has no DecompressionStream). Everything else is on this page.";
    return;
  }
  const ops = await readOperations();
  startTable(ops);
  startPictures(ops);
  for (const draw of view.listeners) draw();
  $("status").textContent = grouped(ops.n) + " operations and events. Drag on the bar to choose a part; hold Ctrl or Shift and turn the wheel to zoom.";
  addEventListener("hashchange", follow);
  follow();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

start().catch((e) => { $("status").textContent = "The operations can't be shown: " + e.message; console.error(e); });
