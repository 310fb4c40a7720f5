// Canvases: their size, their colours, and what all of them draw alike.

const left = 112, right = 8;

// colours are the page's own, read anew for each picture, since the theme may have changed.
function colours() {
  const style = getComputedStyle(document.documentElement);
  const out = {};
  for (const name of ["ground", "panel", "text", "muted", "edge", "grid", "hold", "bad", "good", "doubt", "fault", "tint", "wait"]) out[name] = style.getPropertyValue("--" + name).trim();
  return out;
}

// begin sizes a canvas for its place and the screen's pixels, and returns what to draw with.
function begin(canvas, height) {
  const width = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
  if (width === 0) return null;
  canvas.style.height = height + "px";
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.font = "12px system-ui, 'DejaVu Sans', sans-serif";
  c.textBaseline = "middle";
  const pen = { c, width, height, plot: Math.max(width - left - right, 10), colour: colours() };
  c.fillStyle = pen.colour.ground;
  c.fillRect(0, 0, width, height);
  return pen;
}

const scale = (pen, from, to) => { const k = pen.plot / (to - from); return (t) => left + (t - from) * k; };
const timeAt = (canvas, event, from, to) => {
  const box = canvas.getBoundingClientRect();
  const plot = Math.max(canvas.clientWidth - left - right, 10);
  return from + Math.min(Math.max((event.clientX - box.left - left) / plot, 0), 1) * (to - from);
};

function label(pen, text, y, colour) {
  pen.c.fillStyle = colour || pen.colour.text;
  pen.c.textAlign = "right";
  let shown = text;
  while (shown.length > 3 && pen.c.measureText(shown).width > left - 14) shown = shown.slice(0, -2) + "…";
  pen.c.fillText(shown, left - 8, y);
}

function axis(pen, x, y, to) {
  const step = roundStep((view.to - view.from) / Math.max(pen.plot / 90, 2));
  const digits = Math.max(0, Math.min(6, 6 - Math.floor(Math.log10(step) + 1e-9)));
  pen.c.textAlign = "center";
  for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
    pen.c.fillStyle = pen.colour.grid;
    pen.c.fillRect(x(t), y + 10, 1, to - y - 10);
    pen.c.fillStyle = pen.colour.muted;
    pen.c.fillText(seconds(t, digits) + " s", Math.min(Math.max(x(t), left + 20), pen.width - 26), y);
  }
}

// bands shades the times in which a fault was in effect.
function bands(pen, x, top, bottom, from, to) {
  pen.c.fillStyle = pen.colour.tint;
  for (const f of facts.faults) {
    if (f.to < from || f.from > to) continue;
    const a = Math.max(x(f.from), left), b = Math.min(x(f.to), pen.width - right);
    pen.c.fillRect(a, top, Math.max(b - a, 1), bottom - top);
  }
}

// frames draws what was violated over everything else: nothing hides it.
function frames(pen, x, top, bottom, from, to) {
  const c = pen.c;
  c.strokeStyle = pen.colour.bad;
  c.lineWidth = 1.5;
  c.setLineDash([5, 3]);
  let last = -10;
  for (const v of facts.violations) {
    if (v.until < from || v.at > to) continue;
    const a = Math.max(x(v.at), left), b = Math.min(x(v.until), pen.width - right);
    if (a - last < 2 && b - a < 2) continue;
    last = a;
    c.strokeRect(a, top, Math.max(b - a, 1), bottom - top);
  }
  c.setLineDash([]);
}

function cursor(pen, x, top, bottom) {
  if (view.cursor < view.from || view.cursor > view.to) return;
  pen.c.fillStyle = pen.colour.text;
  pen.c.fillRect(x(view.cursor), top, 1, bottom - top);
}
