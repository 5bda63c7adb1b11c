// The tables of the page: see pack.go.

// inflate returns the text of a compressed element.
async function inflate(id) {
  const text = byID(id).textContent.trim();
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(stream).text();
}

// A Table has columns, each with the next of lines, which is read when the column is first used.
class Table {
  constructor(layout, lines) {
    this.rows = layout.rows;
    this.columns = layout.columns;
    this.byKey = new Map(layout.columns.map((c) => [c.key, c]));
    for (const c of layout.columns) c.line = lines.next().value;
  }

  has(key) { return this.byKey.has(key) && this.byKey.get(key).known > 0; }

  // values returns the numbers of a column; NaN is unknown. Names are their indexes.
  values(key) {
    const c = this.byKey.get(key);
    if (!c.values) {
      c.values = Float64Array.from(JSON.parse(c.line), (v) => v === null ? NaN : v / c.scale);
      for (const base of c.base || []) {
        const before = base.startsWith('<') ? 1 : 0; // the value in the row before
        if (!this.byKey.has(base.slice(before))) continue;
        const values = this.values(base.slice(before));
        for (let i = before; i < this.rows; i++) if (!Number.isNaN(values[i - before])) c.values[i] += values[i - before];
      }
    }
    return c.values;
  }

  // fixed returns a value for a column of a table, so that numbers in it can be compared at a glance.
  fixed(c, row) {
    const v = this.values(c.key)[row];
    if (Number.isNaN(v) || c.names) return this.cell(c, row);
    switch (c.unit) {
      case 'ns': return (v / 1e6).toFixed(3);
      case '%': return v.toFixed(1) + ' %';
      case 'bytes': return sizeText(v, false);
      case 'bytes/s': return sizeText(v, false) + '/s';
      default: return c.scale > 1 ? v.toFixed(2) : this.cell(c, row);
    }
  }

  // cell returns a value as text, '' if it is unknown.
  cell(c, row) {
    const v = this.values(c.key)[row];
    if (Number.isNaN(v)) return '';
    return c.names ? c.names[v] : valueText(v, c.unit);
  }
}

// allPauses returns the pauses in the order of time: those of blocking collections are in their rows,
// the others in a table of their own. row is that of the collection, or -1.
function allPauses(gcs, others) {
  const types = gcs.byKey.get('type').names || [], list = [];
  const rowOf = new Map();
  gcs.values('number').forEach((n, i) => { if (!Number.isNaN(n)) rowOf.set(n, i); });
  const [start, total, suspend, type, classOf] = ['pause.start', 'pause.total', 'suspend', 'type', 'class'].map((k) => gcs.values(k));
  const classes = gcs.byKey.get('class').names || [];
  for (let i = 0; i < gcs.rows; i++) {
    if (!Number.isNaN(start[i]) && types[type[i]] !== 'background') list.push({ start: start[i], duration: total[i], suspend: suspend[i], cls: classes[classOf[i]], kind: 'blocking', row: i });
  }
  const name = (key, i) => others.byKey.get(key).names?.[others.values(key)[i]];
  for (let i = 0; i < others.rows; i++) {
    list.push({ start: others.values('start')[i], duration: others.values('duration')[i], suspend: others.values('suspend')[i], cls: name('class', i), kind: name('kind', i), row: rowOf.get(others.values('number')[i]) ?? -1 });
  }
  return { list: list.sort((a, b) => a.start - b.start), rowOf };
}
