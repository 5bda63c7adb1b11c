// Charts over time, drawn by uPlot. All of them show the same range, and their cursors move
// together. A chart is made when it comes into view, and at once for print.

// axisWidth is the same in all charts, so that a time is in the same place.
const axisWidth = 84;

const hint = el('div', { class: 'hint', hidden: true });

// A TimeChart shows series over the times xs (seconds, ascending).
//   series: [{ title, color, values, unit, dash | shape | fill, hidden, far }]
//   lengths: how long each point lasted, in seconds; a long one is drawn as a bar
//   describe(i, series): the lines of the hint for a point;  open(i): what Enter and a click do
class TimeChart {
  constructor(figure, spec) {
    this.figure = figure;
    this.spec = spec;
    this.log = spec.log === true;
    this.plotBox = el('div', { class: 'plot ' + (spec.size || ''), tabindex: 0, role: 'group', 'aria-label': spec.label + '. Arrow keys move from one to the next, Enter opens it, plus and minus zoom, 0 shows everything.' });
    this.head();
    figure.append(this.plotBox);
    this.plotBox.addEventListener('keydown', (e) => this.key(e));
    this.plotBox.addEventListener('pointerleave', () => { hint.hidden = true; });
    let down = null;
    this.plotBox.addEventListener('pointerdown', (e) => { down = e.clientX; });
    this.plotBox.addEventListener('click', (e) => {
      if (down !== null && Math.abs(e.clientX - down) < 4 && this.at !== undefined && !hint.hidden) this.spec.open?.(this.at, this.atSeries);
    });
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((x) => x.isIntersecting)) {
        observer.disconnect();
        this.make();
      }
    }, { rootMargin: '200px' });
    observer.observe(this.plotBox);
    TimeChart.all.push(this);
    range.listeners.push(() => this.show());
    theme.listeners.push(() => this.remake());
    new ResizeObserver(() => this.resize()).observe(this.plotBox);
  }

  // head adds the legend, whose entries hide and show series, and the buttons.
  head() {
    const caption = this.figure.querySelector('figcaption');
    const list = el('ul', { class: 'legend' });
    this.spec.series.forEach((s) => {
      const button = el('button', { type: 'button', 'aria-pressed': String(!s.hidden), onclick: () => {
        s.hidden = !s.hidden;
        button.setAttribute('aria-pressed', String(!s.hidden));
        if (this.spec.stack) this.remake();
        else this.plot?.setSeries(this.spec.series.indexOf(s) + 1, { show: !s.hidden });
      } }, swatch(s), s.title);
      list.append(el('li', null, button));
    });
    const tools = el('div', { class: 'tools' });
    if (this.spec.log !== undefined) {
      const button = el('button', { type: 'button', 'aria-pressed': String(this.log), onclick: () => {
        this.log = !this.log;
        button.setAttribute('aria-pressed', String(this.log));
        this.remake();
      } }, 'log scale');
      tools.append(button);
    }
    caption.append(list, tools);
  }

  columns() {
    if (!this.spec.stack) return this.spec.series.map((s) => this.log ? positive(s.values) : known(s.values));
    // Stacked areas: each is drawn from 0 to the sum of those below it, the highest first.
    const shown = this.spec.series.filter((s) => !s.hidden);
    return this.spec.series.map((s) => {
      const below = shown.slice(shown.indexOf(s));
      const sum = new Float64Array(this.spec.xs.length);
      for (const b of below) for (let i = 0; i < sum.length; i++) sum[i] += b.values[i]; // with one that is unknown, so is the sum
      return known(s.hidden ? nothing(sum.length) : sum);
    });
  }

  make() {
    if (this.plot || this.plotBox.clientWidth === 0) return;
    const spec = this.spec, unit = spec.unit;
    const { width, height } = this.size();
    const axis = { stroke: theme.muted, grid: { stroke: theme.grid, width: 1 }, ticks: { stroke: theme.rule, width: 1, size: 4 }, font: '12px ' + getComputedStyle(document.body).fontFamily };
    const options = {
      width, height,
      padding: [8, 28, 0, 0], // room for half of the last time
      legend: { show: false },
      focus: { alpha: 1 },
      tzDate: (seconds) => localDate(seconds),
      scales: {
        x: { time: true, range: () => [range.from, range.to] },
        y: { distr: this.log ? 3 : 1, range: (u, min, max) => this.rangeY(min, max) },
      },
      axes: [
        { ...axis, space: 80, size: 30, values: timeTicks },
        spec.lanes ? { ...axis, size: axisWidth, grid: { show: false }, ticks: { show: false }, splits: () => spec.lanes.map((_, i) => i + 0.5), values: () => spec.lanes }
          : { ...axis, size: axisWidth, values: (u, splits) => splits.map((v) => v === null ? '' : this.tick(v, splits)) },
      ],
      series: [{}].concat(spec.series.map((s) => this.seriesOptions(s))),
      cursor: {
        y: false, points: { show: false },
        drag: { x: true, y: false, setScale: false },
        sync: { key: 'gclog', scales: ['x', null], setSeries: false },
        bind: { dblclick: () => () => { range.all(); return null; } },
      },
      hooks: {
        setSelect: [(u) => {
          if (u.select.width > 3) {
            const from = u.posToVal(u.select.left, 'x'), to = u.posToVal(u.select.left + u.select.width, 'x');
            u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
            range.set(from, to);
          }
        }],
        setCursor: [(u) => this.hover(u)],
        drawClear: [(u) => drawGaps(u)],
        draw: [(u) => {
          spec.series.forEach((s, i) => { if (s.shape && u.series[i + 1].show) this.drawShapes(u, i + 1, s); });
          spec.draw?.(u, this);
          drawMarks(u);
        }],
      },
    };
    this.plot = new uPlot(options, [spec.xs, ...this.columns()], this.plotBox);
    this.plot.root.setAttribute('aria-hidden', 'true'); // the box has the name and the keys
  }

  seriesOptions(s) {
    const color = theme.color(s.color);
    const common = { show: !s.hidden || this.spec.stack, label: s.title, spanGaps: s.spanGaps === true, points: { show: false }, scale: 'y', auto: !s.far };
    if (s.shape) return { ...common, stroke: color, paths: () => ({ stroke: new Path2D(), fill: null, clip: null, flags: 0 }) }; // drawShapes draws it
    if (s.fill) return { ...common, stroke: theme.panel, width: 1, fill: (u) => fillStyle(u.ctx, mix(color, theme.panel, 0.62), s.hatch) };
    const few = this.spec.xs.length < 60; // a line between two collections says little
    return { ...common, stroke: color, width: 1.6, points: { show: few, size: 5, width: 0, fill: color }, dash: dashes[s.dash || 'solid'], paths: s.step ? uPlot.paths.stepped({ align: 1 }) : undefined };
  }

  // drawShapes draws the points of a series: small ones if there are very many.
  drawShapes(u, index, s) {
    const { left, top, width, height } = u.bbox;
    const xs = u.data[0], ys = u.data[index], g = u.ctx, ratio = devicePixelRatio || 1;
    const [from, to] = around(xs, range.from - this.longest(), range.to);
    const many = to - from > 4000;
    const r = (many ? 1.8 : to - from > 800 ? 2.8 : 3.8) * ratio;
    g.save();
    g.beginPath();
    g.rect(left - r, top - r, width + 2 * r, height + 2 * r);
    g.clip();
    g.fillStyle = theme.color(s.color);
    g.beginPath();
    for (let i = from; i < to; i++) {
      const y = ys[i];
      if (y === null || Number.isNaN(y)) continue;
      const a = u.valToPos(xs[i], 'x', true), b = this.spec.lengths ? u.valToPos(xs[i] + this.spec.lengths[i], 'x', true) : a, v = u.valToPos(y, 'y', true);
      if (b - a > 2 * r) g.rect(a, v - r / 2, b - a, r);
      shapePath(g, s.shape, a, v, r);
    }
    g.fill();
    g.restore();
  }

  // longest returns how long the longest point lasted.
  longest() {
    this.most ??= (this.spec.lengths || []).reduce((a, b) => Math.max(a, b), 0);
    return this.most;
  }

  rangeY(min, max) {
    if (this.spec.lanes) return [0, this.spec.lanes.length];
    if (this.spec.scale) [min, max] = this.spec.scale(this.log);
    if (min === null || max === null || !Number.isFinite(max)) return this.log ? [1, 10] : [0, 1];
    if (this.log) return [round125(min * 0.9999, false), round125(max * 1.0001, true)];
    return [Math.min(0, min), max <= 0 ? 1 : max * 1.06];
  }

  tick(v, splits) {
    const few = this.log && splits.at(-1) < 100 * splits[0]; // powers of ten alone would be two labels or none
    if (this.log && !(few ? [1, 2, 5] : [1]).some((m) => Math.abs(mantissa(v) - m) < 1e-3)) return '';
    if (v === 0) return '0';
    return valueText(v, this.spec.unit);
  }

  size() { return { width: this.plotBox.clientWidth, height: this.plotBox.clientHeight }; }

  show() {
    if (!this.plot) return;
    this.plot.setScale('x', { min: range.from, max: range.to });
  }

  resize() {
    const { width, height } = this.size();
    if (this.plot && width > 0 && (Math.abs(this.plot.width - width) > 1 || this.plot.height !== height)) this.plot.setSize({ width, height });
  }

  remake() {
    if (!this.plot) return;
    this.plot.destroy();
    this.plot = null;
    this.make();
  }

  // hover shows the hint of the nearest point; only for the chart with the pointer.
  hover(u) {
    const { left, top } = u.cursor;
    if (left < 0 || !this.plotBox.matches(':hover')) return;
    const near = this.nearest(u, left, top);
    if (!near) {
      hint.hidden = true;
      return;
    }
    this.point(near.i, near.series);
  }

  nearest(u, left, top) {
    if (this.spec.nearest) {
      const i = this.spec.nearest(u.posToVal(left, 'x'), u.posToVal(top, 'y'));
      return i === undefined ? null : { i, series: 0 };
    }
    const xs = this.spec.xs;
    const [from, to] = around(xs, u.posToVal(left - 30, 'x') - this.longest(), u.posToVal(left + 30, 'x'));
    let best = null, least = Infinity;
    for (let i = from; i < to; i++) {
      const end = xs[i] + (this.spec.lengths?.[i] || 0);
      const dx = Math.max(0, u.valToPos(xs[i], 'x') - left, left - u.valToPos(end, 'x'));
      if (!this.spec.scatter) {
        if (dx < least) { least = dx; best = { i, series: 0 }; }
        continue;
      }
      for (let s = 1; s < u.data.length; s++) {
        const y = u.data[s][i];
        if (!u.series[s].show || y === null || Number.isNaN(y)) continue;
        const d = Math.hypot(dx, u.valToPos(y, 'y') - top);
        if (d < least) { least = d; best = { i, series: s - 1 }; }
      }
    }
    return best;
  }

  // point shows the hint of a point, next to it.
  point(i, series) {
    this.at = i;
    this.atSeries = series;
    const u = this.plot, lines = this.spec.describe(i, series);
    hint.textContent = lines.join('\n');
    hint.hidden = false;
    if (hint.parentNode !== this.figure) this.figure.append(hint);
    const over = u.over.getBoundingClientRect(), figure = this.figure.getBoundingClientRect();
    const x = over.left - figure.left + Math.max(0, Math.min(over.width, u.valToPos(this.spec.xs[i], 'x')));
    const right = x + hint.offsetWidth + 20 < figure.width;
    hint.style.left = (right ? x + 12 : Math.max(4, x - hint.offsetWidth - 12)) + 'px';
    hint.style.top = over.top - figure.top + 8 + 'px';
    return lines;
  }

  key(e) {
    if (e.target !== this.plotBox || range.keys(e)) return;
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[e.key];
    if (step !== undefined && this.plot) {
      const [from, to] = visible(this.spec.xs);
      if (to <= from) return;
      const inside = this.at >= from && this.at < to;
      const i = inside || !Number.isFinite(step) ? Math.max(from, Math.min(to - 1, (this.at ?? 0) + step)) : (step > 0 ? from : to - 1);
      const series = this.spec.scatter ? Math.max(0, this.spec.series.findIndex((s) => !Number.isNaN(s.values[i]) && s.values[i] !== null)) : 0;
      const lines = this.point(i, series);
      this.plot.setCursor({ left: this.plot.valToPos(this.spec.xs[i], 'x'), top: 10 }, false);
      byID('reading').textContent = lines.join(', ');
      e.preventDefault();
    } else if (e.key === 'Enter' && this.at !== undefined) {
      this.spec.open?.(this.at, this.atSeries);
    }
  }
}

TimeChart.all = [];
window.addEventListener('beforeprint', () => TimeChart.all.forEach((c) => c.make()));

// mantissa returns a number from 1 to 10 that is v without its power of ten.
const mantissa = (v) => v / 10 ** Math.floor(Math.log10(v) + 1e-9);

// round125 rounds to 1, 2 or 5 times a power of ten, so that a narrow range fills a logarithmic axis.
function round125(v, up) {
  const steps = [1, 2, 5, 10], m = mantissa(v), power = v / m;
  return power * (up ? steps.find((s) => s >= m - 1e-9) : steps.findLast((s) => s <= m + 1e-9));
}

const nothing = (n) => new Float64Array(n).fill(NaN);
// uPlot's gaps are null.
const known = (values) => Array.from(values, (v) => Number.isNaN(v) ? null : v);
const positive = (values) => Array.from(values, (v) => v > 0 ? v : null);

// localDate returns a Date whose local fields are those of the report's zone, as uPlot reads them.
function localDate(seconds) {
  const d = clock.date(seconds);
  return new Date(d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate(), d.getUTCHours(), d.getUTCMinutes(), d.getUTCSeconds(), d.getUTCMilliseconds());
}

function timeTicks(u, splits, axis, space, step) {
  let day = '';
  return splits.map((s) => {
    const decimals = step >= 1 ? 0 : step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3;
    const today = clock.day(s);
    let text = clock.ofSeconds(s, decimals);
    if (step >= 60) text = text.slice(0, 5);
    if (step >= 86400) text = today;
    else if (today !== day && day !== '') text += '\n' + today;
    day = today;
    return text;
  });
}

// around returns the indexes [from, to) of the times between two values.
function around(xs, low, high) {
  const search = (v) => {
    let a = 0, b = xs.length;
    while (a < b) {
      const m = (a + b) >> 1;
      if (xs[m] < v) a = m + 1;
      else b = m;
    }
    return a;
  };
  return [search(low), search(high + 1e-9)];
}

const visible = (xs) => around(xs, range.from, range.to);

// mix returns a color between two of the form #rrggbb.
function mix(a, b, share) {
  const channels = (hex) => [1, 3, 5].map((i) => parseInt((hex.length === 4 ? hex.replace(/[^#]/g, '$&$&') : hex).slice(i, i + 2), 16));
  const x = channels(a), y = channels(b);
  return '#' + x.map((v, i) => Math.round(v * share + y[i] * (1 - share)).toString(16).padStart(2, '0')).join('');
}

// fillStyle returns a color, or a pattern of it.
function fillStyle(g, color, hatch) {
  if (!hatch) return color;
  const tile = document.createElement('canvas');
  tile.width = tile.height = 8;
  const t = tile.getContext('2d');
  t.fillStyle = color;
  t.fillRect(0, 0, 8, 8);
  t.strokeStyle = t.fillStyle = 'rgb(255 255 255 / 60%)';
  t.lineWidth = 1.5;
  t.beginPath();
  if (hatch === 'lines') {
    t.moveTo(-2, 10); t.lineTo(10, -2);
    t.moveTo(-2, 2); t.lineTo(2, -2);
    t.moveTo(6, 10); t.lineTo(10, 6);
    t.stroke();
  } else {
    t.arc(4, 4, 1.3, 0, 7);
    t.fill();
  }
  return g.createPattern(tile, 'repeat');
}

// drawGaps shades the times in which nothing was observed.
function drawGaps(u) {
  const { left, top, width, height } = u.bbox, g = u.ctx;
  for (const gap of page.gaps) {
    const a = Math.max(left, u.valToPos(clock.seconds(gap.from), 'x', true)), b = Math.min(left + width, u.valToPos(clock.seconds(gap.to), 'x', true));
    if (b <= left || a >= left + width) continue;
    g.fillStyle = theme.grid;
    g.fillRect(a, top, Math.max(1, b - a), height);
  }
}

// drawMarks draws the heap snapshots on the time line.
function drawMarks(u) {
  const { left, top, width, height } = u.bbox, g = u.ctx, ratio = devicePixelRatio || 1;
  g.save();
  g.strokeStyle = g.fillStyle = theme.ink;
  g.font = 11 * ratio + 'px sans-serif';
  g.textBaseline = 'alphabetic';
  for (const mark of page.marks) {
    const x = u.valToPos(clock.seconds(mark.at), 'x', true);
    if (x < left || x > left + width) continue;
    g.setLineDash([3 * ratio, 3 * ratio]);
    g.beginPath();
    g.moveTo(x, top);
    g.lineTo(x, top + height);
    g.stroke();
    const text = '▾ ' + mark.text, room = x + 6 * ratio + g.measureText(text).width < left + width;
    g.textAlign = room ? 'left' : 'right';
    g.fillText(text, x + (room ? 3 : -3) * ratio, top + 10 * ratio);
  }
  g.restore();
}
