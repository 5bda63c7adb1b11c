// Colors for canvases: those of the style sheet, in light and dark mode and in print.

const theme = {
  listeners: [],
  read() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    Object.assign(this, { ink: of('--ink'), muted: of('--muted'), grid: of('--grid'), rule: of('--rule'), panel: of('--panel'), select: of('--select'), accent: of('--accent') });
    this.color = (name) => of('--' + name);
  },
  changed() {
    this.read();
    for (const f of this.listeners) f();
  },
};

// The dashes of lines, and the paths of shapes around a point: a color is never the only difference.
const dashes = { solid: [], dashed: [7, 4], dotted: [2, 3], mixed: [8, 3, 2, 3] };

function shapePath(g, shape, x, y, r) {
  switch (shape) {
    case 'square': g.rect(x - r * 0.88, y - r * 0.88, r * 1.76, r * 1.76); break;
    case 'triangle': g.moveTo(x, y - r * 1.15); g.lineTo(x + r * 1.1, y + r * 0.85); g.lineTo(x - r * 1.1, y + r * 0.85); g.closePath(); break;
    case 'diamond': g.moveTo(x, y - r * 1.3); g.lineTo(x + r * 1.3, y); g.lineTo(x, y + r * 1.3); g.lineTo(x - r * 1.3, y); g.closePath(); break;
    case 'cross': {
      const a = r * 0.35, b = r * 1.15;
      g.moveTo(x - a, y - b); g.lineTo(x + a, y - b); g.lineTo(x + a, y - a); g.lineTo(x + b, y - a); g.lineTo(x + b, y + a); g.lineTo(x + a, y + a);
      g.lineTo(x + a, y + b); g.lineTo(x - a, y + b); g.lineTo(x - a, y + a); g.lineTo(x - b, y + a); g.lineTo(x - b, y - a); g.lineTo(x - a, y - a); g.closePath();
      break;
    }
    default: g.moveTo(x + r, y); g.arc(x, y, r, 0, 2 * Math.PI);
  }
}

// swatch returns the sign of a series in a legend.
function swatch(series) {
  const color = `var(--${series.color})`;
  if (series.shape) {
    const d = { circle: 'M9 1a4 4 0 1 0 .01 0', square: 'M5.5 1.5h7v7h-7z', triangle: 'M9 .5 13.5 9h-9z', diamond: 'M9 0l5 5-5 5-5-5z', cross: 'M8 0h2v4h4v2h-4v4H8V6H4V4h4z' }[series.shape];
    const path = el('path', { d });
    path.style.fill = color;
    return el('svg', { viewBox: '0 0 18 10', 'aria-hidden': 'true' }, path);
  }
  if (series.fill) {
    const rect = el('rect', { x: 1, y: 0, width: 16, height: 10 });
    rect.style.fill = `color-mix(in srgb, ${color} 62%, var(--panel))`;
    return el('svg', { viewBox: '0 0 18 10', 'aria-hidden': 'true' }, rect, series.hatch ? el('path', { d: hatchPath(series.hatch), class: 'hatch' }) : null);
  }
  const line = el('line', { x1: 0, x2: 18, y1: 5, y2: 5, 'stroke-width': 2.5, 'stroke-dasharray': dashes[series.dash || 'solid'].join(' ') });
  line.style.stroke = color;
  return el('svg', { viewBox: '0 0 18 10', 'aria-hidden': 'true' }, line);
}

const hatchPath = (kind) => kind === 'lines' ? 'M1 10 9 0M6 10 14 0M11 10 17 2' : 'M4 5h.1M9 5h.1M14 5h.1';
