// The start of the page.

let page;

async function start() {
  page = JSON.parse(byID('data').textContent);
  if (page.sides) return startComparison();
  Object.assign(clock, { sync: page.sync, offset: page.offset, zone: page.zone });
  theme.read();
  if (page.snapshots > 0) makeHeaps(JSON.parse(await inflate('heaps')));
  if (page.stacks) makeStacks(JSON.parse(await inflate('stacks')));
  if (page.history) await startHistory();
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => theme.changed());
  window.matchMedia('print').addEventListener('change', () => theme.changed());
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

async function startHistory() {
  const lines = (await inflate('tables')).split('\n').values();
  const gcs = new Table(page.gcs, lines);
  const { list: pauses, rowOf: rowOfNumber } = allPauses(gcs, new Table(page.pauses, lines));
  range.init(clock.seconds(page.from), clock.seconds(page.to));

  let explanations = null;
  const told = () => explanations ??= inflate('explanations').then(JSON.parse);
  const open = (row) => sheet.open(row);
  const starts = makeCharts(gcs, pauses, open);
  if (page.picture) {
    TimeChart.all.forEach((c) => c.make()); // nobody scrolls
    return;
  }
  makeBrush(pauses);
  const table = new GCTable(byID('table'), gcs, open);
  const showTimes = (rows) => {
    const times = rows.map((r) => starts[r]);
    const low = Math.min(...times), high = Math.max(...times), margin = Math.max((high - low) * 0.15, (range.full[1] - range.full[0]) / 100, 0.5);
    range.set(low - margin, high + margin);
    byID('pauses').scrollIntoView();
  };
  const sheet = new Sheet(gcs, told, (row) => { table.show(row); byID('collections').scrollIntoView(); }, (row) => showTimes([row]));

  document.addEventListener('click', (e) => {
    const a = e.target.closest('[data-gc], [data-show], [data-from], [data-filter]');
    if (!a) return;
    if (a.dataset.gc) {
      e.preventDefault();
      openNumber(Number(a.dataset.gc));
    } else if (a.dataset.show) showTimes(a.dataset.show.split(',').map((n) => rowOfNumber.get(Number(n))).filter((r) => r !== undefined));
    else if (a.dataset.from) {
      const from = clock.seconds(Number(a.dataset.from)), to = clock.seconds(Number(a.dataset.to));
      range.set(from - (to - from) * 0.5, to + (to - from) * 0.5);
    } else table.setFilter(a.dataset.filter);
  });
  function openNumber(number) {
    if (rowOfNumber.has(number)) open(rowOfNumber.get(number));
  }
  const linked = () => { const m = /^#gc-(\d+)$/.exec(location.hash); if (m) openNumber(Number(m[1])); };
  window.addEventListener('hashchange', linked);
  linked();
}

start().catch((e) => {
  const box = byID('failure');
  box.textContent = typeof DecompressionStream === 'undefined' ? 'Charts and the table need a browser of 2023 or later: Chrome 103, Firefox 113 or Safari 16.4.' : 'Charts and the table cannot be shown: ' + e.message;
  box.hidden = false;
  console.error(e);
});
