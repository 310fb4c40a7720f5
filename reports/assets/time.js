// The part of the run that all panels show, and how it moves. Times are µs of the run.

const view = { from: 0, to: Math.max(facts.end, 1000), cursor: -1, chosen: -1, listeners: [] };
const whole = view.to;
const least = 20; // µs: no window is narrower

let pending = false;
function redraw() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => {
    pending = false;
    for (const draw of view.listeners) draw();
  });
}

function show(from, to) {
  const width = Math.min(Math.max(to - from, least), whole);
  view.from = Math.min(Math.max(from, 0), whole - width);
  view.to = view.from + width;
  redraw();
}

function zoom(factor, about = (view.from + view.to) / 2) {
  const width = (view.to - view.from) * factor;
  show(about - (about - view.from) * factor, about - (about - view.from) * factor + width);
}

function move(share) {
  const by = (view.to - view.from) * share;
  show(view.from + by, view.to + by);
}

// reveal brings a moment into view and marks it.
function reveal(at) {
  view.cursor = at;
  if (at < view.from || at > view.to) {
    const half = (view.to - view.from) / 2;
    show(at - half, at + half);
  } else redraw();
}

const seconds = (us, digits = 3) => (us / 1e6).toFixed(digits);

function span(us) {
  if (us >= 1e6) return (us / 1e6).toFixed(us >= 1e7 ? 1 : 3) + " s";
  if (us >= 1e3) return (us / 1e3).toFixed(us >= 1e4 ? 1 : 2) + " ms";
  return Math.round(us) + " µs";
}

const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, " ");

// roundStep is the smallest of 1, 2, 5, 10 … that is at least so large.
function roundStep(size) {
  for (let scale = 1; ; scale *= 10) for (const m of [1, 2, 5]) if (m * scale >= size) return m * scale;
}
