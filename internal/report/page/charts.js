// Which charts there are, and what is in them.

// root contains their figures. extents, if there are any, are the scales of charts by name.
function makeCharts(gcs, pauses, open, root = document, extents = {}) {
  const starts = Float64Array.from(gcs.values('start'), (v) => clock.seconds(v));
  const cell = (key, row) => gcs.cell(gcs.byKey.get(key), row);
  const nameOf = (row) => `#${cell('number', row) || 'n/a'} ${cell('name', row)} ${cell('type', row)}${cell('reason', row) ? ' · ' + cell('reason', row) : ''}`;
  const head = (row) => [nameOf(row), `${cell('start', row)}   pause ${cell('pause.total', row) || 'n/a'}`];
  const figures = Object.fromEntries([...root.querySelectorAll('[data-chart]')].map((f) => [f.dataset.chart, f]));

  // chart makes a chart of those series whose column has values. Without any, the page says why.
  function chart(name, spec) {
    const figure = figures[name];
    if (!figure) return;
    spec.series = spec.series.filter((s) => !s.key || gcs.has(s.key));
    if (spec.series.length === 0 || spec.xs.length === 0) return;
    for (const s of spec.series) if (s.key) Object.defineProperty(s, 'values', { get: () => gcs.values(s.key) }); // unpacked when it is drawn
    if (extents[name]) spec.scale = () => extents[name];
    spec.label = 'Chart: ' + figure.querySelector('h3').textContent;
    const missing = figure.querySelector('.missing');
    figure.querySelector('.static')?.remove();
    new TimeChart(figure, spec);
    if (missing) figure.append(missing); // below the chart
  }
  // overRows completes a chart of values of the collections.
  function overRows(spec) {
    const complete = { xs: starts, open: (i) => open(i), ...spec };
    complete.describe = (i) => head(i).concat(complete.series.filter((s) => !s.hidden && !Number.isNaN(s.values[i])).map((s) => `${s.title}  ${valueText(s.values[i], spec.unit)}`));
    return complete;
  }
  const bytes = (key, title, color, more) => ({ key, title, color, ...more });

  // Pauses: a series for each class.
  const occur = new Set(pauses.map((p) => p.cls));
  const series = page.classes.filter((c) => occur.has(c.id)).map((c) => ({ title: c.title, color: 'class-' + c.css, shape: c.shape, values: pauses.map((p) => p.cls === c.id ? Math.max(p.duration, 1) : null) }));
  chart('pauses', {
    xs: Float64Array.from(pauses, (p) => clock.seconds(p.start)), lengths: Float64Array.from(pauses, (p) => p.duration / 1e9), unit: 'ns', log: true, size: 'tall', scatter: true, series,
    describe: (i) => {
      const p = pauses[i];
      const lines = [p.row < 0 ? p.kind + ', without a collection' : nameOf(p.row) + (p.kind === 'blocking' ? '' : `, ${p.kind} pause`), `${clock.text(p.start, 3)}   paused ${durationText(p.duration)}`];
      if (!Number.isNaN(p.suspend)) lines.push(`of it, suspension ${durationText(p.suspend)}`);
      return lines;
    },
    open: (i) => { if (pauses[i].row >= 0) open(pauses[i].row); },
    draw: (u, c) => drawThresholds(u, c.log),
  });

  const limits = memoryLimits(gcs);
  chart('heap', overRows({
    unit: 'bytes', size: 'tall',
    series: [
      bytes('heap.after', 'after', 'series-1', { fill: false }), bytes('heap.peak', 'before', 'series-2', { dash: 'dotted' }),
      bytes('heap.committed', 'committed', 'series-3', { dash: 'dashed', spanGaps: true }),
      bytes('process.memory.rss', 'RSS', 'series-4', { dash: 'mixed', spanGaps: true }),
    ].concat(limits),
    draw: (u) => drawAbove(u, limits),
  }));
  chart('generations', overRows({
    unit: 'bytes', stack: true,
    series: [
      bytes('gen0.after', 'gen0', 'class-gen0', { fill: true }), bytes('gen1.after', 'gen1', 'class-gen1', { fill: true, hatch: 'dots' }), bytes('poh.after', 'POH', 'series-1', { fill: true, hatch: 'lines' }),
      bytes('loh.after', 'LOH', 'series-2', { fill: true, hatch: 'dots' }), bytes('gen2.after', 'gen2', 'class-gen2', { fill: true }),
    ],
  }));
  chart('budgets', overRows({
    unit: 'bytes', log: true,
    series: [
      bytes('gen0.budget', 'gen0', 'class-gen0', { spanGaps: true, step: true }), bytes('gen1.budget', 'gen1', 'class-gen1', { spanGaps: true, step: true, dash: 'dashed' }), bytes('gen2.budget', 'gen2', 'class-gen2', { spanGaps: true, step: true, dash: 'dotted' }),
      bytes('loh.budget', 'LOH', 'series-2', { spanGaps: true, step: true, dash: 'mixed' }), bytes('poh.budget', 'POH', 'series-1', { spanGaps: true, step: true, dash: 'dotted', hidden: true }),
    ],
  }));
  chart('allocation', overRows({
    unit: 'bytes/s', log: spread(gcs, 'alloc_rate.bytes_per_s') > 10, // of two collections in quick succession it is very high
    series: [bytes('alloc_rate.bytes_per_s', 'allocated per second while the program ran', 'series-1', { spanGaps: true })],
  }));
  chart('balance', overRows({
    unit: '', log: false,
    series: [bytes('imbalance.gen0', 'gen0: most objects of a heap ÷ mean', 'series-1', { spanGaps: true }), bytes('imbalance.survived', 'survivors: most of a heap ÷ mean', 'series-2', { spanGaps: true, dash: 'dashed' })],
  }));
  backgroundChart(gcs, pauses, head, open, chart);
  return starts;
}

// spread returns how many times the median the greatest value of a column is.
function spread(gcs, key) {
  if (!gcs.has(key)) return 1;
  const sorted = Array.from(gcs.values(key)).filter((v) => v > 0).sort((a, b) => a - b);
  return sorted.length > 0 ? sorted.at(-1) / sorted[sorted.length >> 1] : 1;
}

// memoryLimits returns the series of what limits the heap: those of the control group and the hard limit.
// What is far above everything else does not change the scale: drawAbove says how much it is. What the
// control group uses is shown where it has a limit.
function memoryLimits(gcs) {
  const most = greatest(gcs, 'heap.peak', 'heap.committed', 'process.memory.rss');
  const series = (key, title, more) => ({ key, title, spanGaps: true, far: greatest(gcs, key) > 4 * most, ...more });
  const list = [];
  if (gcs.has('process.cgroup.memory.usage')) list.push(series('process.cgroup.memory.usage', 'cgroup', { color: 'series-5', dash: 'dashed', hidden: !gcs.has('process.cgroup.memory.limit') }));
  if (gcs.has('process.cgroup.memory.limit')) list.push(series('process.cgroup.memory.limit', 'cgroup limit', { color: 'series-6' }));
  if (page.limit) list.push({ title: 'hard limit', color: 'series-6', dash: 'mixed', values: new Float64Array(gcs.rows).fill(page.limit), far: page.limit > 4 * most });
  return list;
}

// greatest returns the greatest value of columns, 0 without any.
function greatest(gcs, ...keys) {
  let most = 0;
  for (const key of keys) if (gcs.has(key)) for (const v of gcs.values(key)) if (v > most) most = v;
  return most;
}

// drawAbove says what the latest values of series are that the scale does not reach.
function drawAbove(u, list) {
  const { left, width, top } = u.bbox, g = u.ctx, ratio = devicePixelRatio || 1;
  const latest = (s) => s.values.findLast((v) => !Number.isNaN(v));
  const text = list.filter((s) => !s.hidden && latest(s) > u.scales.y.max).map((s) => `↑ ${s.title} ${sizeText(latest(s))}`).join('   ');
  if (text === '') return;
  g.save();
  g.fillStyle = theme.ink;
  g.font = 11 * ratio + 'px sans-serif';
  g.textAlign = 'right';
  g.fillText(text, left + width - 3 * ratio, top + 11 * ratio);
  g.restore();
}

// drawThresholds draws where pauses are noticeable and long.
function drawThresholds(u, log) {
  const { left, width, top, height } = u.bbox, g = u.ctx, ratio = devicePixelRatio || 1;
  g.save();
  g.strokeStyle = g.fillStyle = theme.muted;
  g.setLineDash([5 * ratio, 4 * ratio]);
  g.font = 10.5 * ratio + 'px sans-serif';
  g.textAlign = 'right';
  for (const t of page.thresholds) {
    const y = u.valToPos(t, 'y', true);
    if (y < top || y > top + height) continue;
    g.beginPath();
    g.moveTo(left, y);
    g.lineTo(left + width, y);
    g.stroke();
    g.fillText(durationText(t), left + width - 3 * ratio, y - 3 * ratio);
  }
  g.restore();
}

// The phases of a background collection, in order, and how they are drawn.
const phases = [
  { title: 'initial pause', color: 'class-gen2' },
  { title: 'concurrent mark', color: 'class-background' },
  { title: 'final pause', color: 'class-gen2' },
  { title: 'concurrent sweep', color: 'series-1' },
];

function backgroundChart(gcs, pauses, head, open, chart) {
  const types = gcs.byKey.get('type').names || [], type = gcs.values('type');
  const rows = [], foreground = [];
  for (let i = 0; i < gcs.rows; i++) {
    if (types[type[i]] === 'background') rows.push(i);
    if (types[type[i]] === 'foreground') foreground.push(i);
  }
  const at = (key, row) => gcs.values(key)[row];
  const pausesOf = new Map();
  for (const p of pauses) {
    if (p.row < 0 || p.kind === 'blocking') continue;
    if (!pausesOf.has(p.row)) pausesOf.set(p.row, {});
    pausesOf.get(p.row)[p.kind] = [p.start, p.start + p.duration];
  }
  const spans = rows.map((row) => {
    const p = pausesOf.get(row) || {};
    const list = [p.initial, [at('background.mark_start', row), at('background.mark_end', row)], p.final, [at('background.sweep_start', row), at('background.sweep_end', row)]];
    return list.map((s) => s && !Number.isNaN(s[0]) && s[1] >= s[0] ? s.map((ns) => clock.seconds(ns)) : null);
  });
  const ends = spans.map((s, i) => Math.max(clock.seconds(at('start', rows[i])), ...s.filter(Boolean).map((x) => x[1])));
  const xs = Float64Array.from(rows, (row) => clock.seconds(at('start', row)));
  const flat = Array.from(xs, () => 0.5);
  const young = Float64Array.from(foreground, (row) => clock.seconds(at('pause.start', row)));
  chart('background', {
    xs, size: 'low', unit: '', lanes: ['foreground', 'background'],
    series: [
      { title: 'pause', color: 'class-gen2', fill: true, values: flat }, { title: 'concurrent mark', color: 'class-background', fill: true, hatch: 'lines', values: flat },
      { title: 'concurrent sweep', color: 'series-1', fill: true, hatch: 'dots', values: flat }, { title: 'foreground gen0', color: 'class-gen0', fill: true, values: flat }, { title: 'foreground gen1', color: 'class-gen1', fill: true, hatch: 'lines', values: flat },
    ].map((s) => ({ ...s, values: nothing(xs.length) })),
    nearest: (x, y) => {
      let best;
      xs.forEach((from, i) => {
        const near = x >= from - (range.to - range.from) / 100 && x <= ends[i] + (range.to - range.from) / 100;
        if (near && (best === undefined || Math.abs(from - x) < Math.abs(xs[best] - x))) best = i;
      });
      return best;
    },
    describe: (i) => {
      const meanwhile = foreground.filter((row, k) => young[k] >= xs[i] && young[k] <= ends[i]).length;
      return head(rows[i]).concat(phases.map((p, k) => spans[i][k] ? `${p.title}  ${durationText((spans[i][k][1] - spans[i][k][0]) * 1e9)}` : null).filter(Boolean), `${meanwhile} foreground collection${meanwhile === 1 ? '' : 's'} meanwhile`);
    },
    open: (i) => open(rows[i]),
    draw: (u) => {
      const { left, top, width, height } = u.bbox, g = u.ctx, ratio = devicePixelRatio || 1;
      const lane = height / 2;
      g.save();
      g.beginPath();
      g.rect(left, top, width, height);
      g.clip();
      const bar = (span, y, h, color, hatch, least) => {
        const a = u.valToPos(span[0], 'x', true), b = u.valToPos(span[1], 'x', true);
        if (b < left || a > left + width) return;
        g.fillStyle = fillStyle(g, hatch ? mix(theme.color(color), theme.panel, 0.62) : theme.color(color), hatch);
        g.fillRect(a, y, Math.max(least * ratio, b - a), h);
      };
      spans.forEach((s) => {
        const y = top + lane * 0.2, h = lane * 0.6;
        if (s[1]) bar(s[1], y + h * 0.2, h * 0.6, phases[1].color, 'lines', 1);
        if (s[3]) bar(s[3], y + h * 0.2, h * 0.6, phases[3].color, 'dots', 1);
        if (s[0]) bar(s[0], y, h, phases[0].color, '', 1.5);
        if (s[2]) bar(s[2], y, h, phases[2].color, '', 1.5);
      });
      foreground.forEach((row, k) => {
        const gen1 = gcs.cell(gcs.byKey.get('name'), row).startsWith('1');
        bar([young[k], young[k] + at('pause.total', row) / 1e9], top + lane * (gen1 ? 1.1 : 1.3), lane * (gen1 ? 0.8 : 0.4), gen1 ? 'class-gen1' : 'class-gen0', gen1 ? 'lines' : '', 1.2);
      });
      g.restore();
    },
  });
}
