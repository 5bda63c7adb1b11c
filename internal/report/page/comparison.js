// Two histories on the same scales: times count from the start of each.

async function startComparison() {
  const sides = page.sides;
  Object.assign(page, { gaps: [], marks: [], classes: sides[0].classes, thresholds: sides[0].thresholds });
  Object.assign(clock, { relative: true, zone: 'since the start' });
  theme.read();
  const lines = (await inflate('tables')).split('\n').values();
  let seconds = 0;
  const histories = sides.map((side) => {
    const gcs = new Table(side.gcs, lines), others = new Table(side.pauses, lines);
    const shift = (values) => { for (let i = 0; i < values.length; i++) values[i] -= side.from; };
    const list = [gcs.values('start'), gcs.values('pause.start'), others.values('start')]; // before they are changed: one depends on the other
    list.forEach(shift);
    seconds = Math.max(seconds, (side.to - side.from) / 1e9);
    return { gcs, pauses: allPauses(gcs, others).list };
  });
  const extents = {
    pauses: extent(histories.map((h) => h.pauses.map((p) => Math.max(p.duration, 1)))),
    heap: extent(histories.flatMap((h) => ['heap.peak', 'heap.after', 'heap.committed', 'process.memory.rss'].filter((k) => h.gcs.has(k)).map((k) => h.gcs.values(k)))),
    allocation: extent(histories.filter((h) => h.gcs.has('alloc_rate.bytes_per_s')).map((h) => h.gcs.values('alloc_rate.bytes_per_s'))),
  };
  range.init(0, seconds);
  histories.forEach((h, i) => makeCharts(h.gcs, h.pauses, () => {}, document.querySelector(`[data-side="${i}"]`), extents));
  makeBrush(histories[0].pauses);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => theme.changed());
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

// extent returns the least above 0 and the greatest of several lists, null without any.
function extent(lists) {
  let low = Infinity, high = -Infinity;
  for (const list of lists) {
    for (const v of list) {
      if (v > 0 && v < low) low = v; // a logarithmic scale has no 0
      if (v > high) high = v;
    }
  }
  return low <= high ? [low, high] : null;
}
