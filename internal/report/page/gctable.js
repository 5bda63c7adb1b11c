// The table of collections: pages of rows, sorted and filtered, with export.

const pageRows = 100; // staticCollections in figures.go

class GCTable {
  constructor(box, gcs, open) {
    this.box = box;
    this.gcs = gcs;
    this.open = open;
    this.groups = new Set(['main']);
    this.sorted = 'start';
    this.descending = false;
    this.filter = '';
    this.inRange = false;
    this.page = 0;
    this.target = -1;
    this.build();
    range.listeners.push(() => { if (this.inRange) this.update(); });
    this.update();
  }

  build() {
    const groups = [...new Set(this.gcs.columns.filter((c) => c.known > 0 && c.group).map((c) => c.group))];
    this.search = el('input', { type: 'search', id: 'gc-filter', placeholder: 'gen2 Induced, #123, pause>50ms', oninput: () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.setFilter(this.search.value), 120);
    } });
    const only = this.only = el('input', { type: 'checkbox', onchange: () => { this.inRange = only.checked; this.page = 0; this.update(); } });
    this.count = el('span', { 'aria-live': 'polite' });
    this.pager = el('div', { class: 'pages' });
    this.table = el('table', { id: 'gcs' });
    this.scroll = el('div', { class: 'gcs-table', tabindex: 0, role: 'group', 'aria-label': 'Table of collections' }, this.table);
    this.box.replaceChildren(
      el('div', { class: 'table-tools' },
        el('label', { for: 'gc-filter' }, 'Filter', this.search),
        el('label', null, only, 'only the selected time range'),
        this.count,
        el('div', { class: 'export' }, el('button', { type: 'button', id: 'csv', onclick: () => this.exportCSV() }, 'CSV'), el('button', { type: 'button', id: 'json', onclick: () => this.exportJSON() }, 'JSON'))),
      el('fieldset', { class: 'groups' }, el('legend', null, 'Columns'), groups.filter((g) => g !== 'main').map((g) => {
        const b = el('button', { type: 'button', 'aria-pressed': 'false', onclick: () => {
          this.groups.has(g) ? this.groups.delete(g) : this.groups.add(g);
          b.setAttribute('aria-pressed', String(this.groups.has(g)));
          this.render();
        } }, { loh: 'LOH', poh: 'POH' }[g] || g);
        return b;
      }), el('button', { type: 'button', class: 'quiet', onclick: () => {
        const all = this.groups.size < groups.length;
        this.groups = new Set(all ? groups : ['main']);
        for (const b of this.box.querySelectorAll('.groups [aria-pressed]')) b.setAttribute('aria-pressed', String(all));
        this.render();
      } }, 'all')),
      this.scroll, this.pager);
  }

  setFilter(text) {
    this.filter = text;
    this.search.value = text;
    this.page = 0;
    this.update();
  }

  // test returns a function that reports whether a row has all words of the filter.
  test() {
    const gcs = this.gcs, tests = [];
    const units = { ns: 1, us: 1e3, 'µs': 1e3, ms: 1e6, s: 1e9, b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12, '%': 1, '': 1 };
    const named = gcs.columns.filter((c) => c.names && c.group);
    for (const word of this.filter.trim().split(/\s+/).filter(Boolean)) {
      const comparison = /^([^<>=]+)(<=|>=|<|>|=)(-?[\d.]+)([a-zµ%]*)$/i.exec(word);
      const column = comparison && gcs.columns.find((c) => c.group && !c.names && (c.key === comparison[1] || c.title.replace(/ /g, '') === comparison[1] || c.key.startsWith(comparison[1] + '.')));
      if (column) {
        const values = gcs.values(column.key), limit = Number(comparison[3]) * (units[comparison[4].toLowerCase()] || 1);
        const compare = { '<': (v) => v < limit, '>': (v) => v > limit, '<=': (v) => v <= limit, '>=': (v) => v >= limit, '=': (v) => v === limit }[comparison[2]];
        tests.push((i) => compare(values[i]));
        continue;
      }
      if (/^#\d+$/.test(word)) {
        const values = gcs.values('number'), n = Number(word.slice(1));
        tests.push((i) => values[i] === n);
        continue;
      }
      const low = word.toLowerCase(), generation = /^gen([012])$/.exec(low);
      const hits = named.map((c) => [gcs.values(c.key), new Set(c.names.flatMap((n, k) => n.toLowerCase().includes(low) ? [k] : []))]).filter(([, set]) => set.size > 0);
      if (generation) {
        const names = gcs.byKey.get('name').names || [], values = gcs.values('name');
        tests.push((i) => !Number.isNaN(values[i]) && names[values[i]][0] === generation[1]);
      } else tests.push((i) => hits.some(([values, set]) => set.has(values[i])));
    }
    if (this.inRange && !range.whole()) {
      const start = gcs.values('start'), from = clock.stamp(range.from), to = clock.stamp(range.to);
      tests.push((i) => start[i] >= from && start[i] <= to);
    }
    return (i) => tests.every((t) => t(i));
  }

  update() {
    const test = this.test(), order = [];
    for (let i = 0; i < this.gcs.rows; i++) if (test(i)) order.push(i);
    const c = this.gcs.byKey.get(this.sorted), values = this.gcs.values(this.sorted), sign = this.descending ? -1 : 1;
    order.sort((a, b) => {
      const x = values[a], y = values[b];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) ? (Number.isNaN(y) ? a - b : 1) : -1; // unknown ones last
      return (c.names ? sign * c.names[x].localeCompare(c.names[y]) : sign * (x - y)) || a - b;
    });
    this.order = order;
    this.page = Math.min(this.page, Math.max(0, Math.ceil(order.length / pageRows) - 1));
    this.render();
  }

  columns() { return this.gcs.columns.filter((c) => c.known > 0 && this.groups.has(c.group) && c.key !== 'class'); }

  render() {
    const columns = this.columns(), gcs = this.gcs;
    const rows = this.order.slice(this.page * pageRows, (this.page + 1) * pageRows);
    const head = el('tr', null, columns.map((c) => el('th', { scope: 'col', class: c.names ? null : 'num', 'aria-sort': c.key === this.sorted ? (this.descending ? 'descending' : 'ascending') : null },
      el('button', { type: 'button', title: c.doc, 'data-key': c.key, onclick: () => this.sort(c) }, c.title + (c.unit === 'ns' ? ' ms' : ''), c.key === this.sorted ? (this.descending ? ' ▾' : ' ▴') : ''))));
    const body = rows.map((i) => el('tr', { 'data-row': i, class: i === this.target ? 'target' : null }, columns.map((c, k) => {
      const text = gcs.fixed(c, i);
      if (c.key === 'number') return el('td', { class: 'num' }, el('button', { type: 'button', onclick: () => this.open(i), 'aria-label': 'Explain collection ' + (text || 'without a number') }, text || 'n/a'));
      if (k === 0) return el('th', { scope: 'row', class: 'num' }, text);
      return el('td', { class: (c.names ? (c.key === 'condemned.reasons' ? 'wide' : null) : 'num'), title: c.key === 'condemned.reasons' ? text : null }, text || '–');
    })));
    this.table.replaceChildren(el('caption', { class: 'hidden' }, 'Collections'), el('thead', null, head), el('tbody', null, body));
    this.count.textContent = this.order.length === gcs.rows ? `${gcs.rows.toLocaleString('en')} collection${gcs.rows === 1 ? '' : 's'}` : `${this.order.length.toLocaleString('en')} of ${gcs.rows.toLocaleString('en')} collections`;
    const last = Math.max(0, Math.ceil(this.order.length / pageRows) - 1);
    const go = (to) => () => { this.page = to; this.render(); this.scroll.scrollTop = 0; };
    this.pager.replaceChildren(
      el('button', { type: 'button', disabled: this.page === 0, onclick: go(0) }, 'First'), el('button', { type: 'button', disabled: this.page === 0, onclick: go(this.page - 1) }, 'Previous'),
      el('span', null, `page ${this.page + 1} of ${last + 1}`),
      el('button', { type: 'button', disabled: this.page === last, onclick: go(this.page + 1) }, 'Next'), el('button', { type: 'button', disabled: this.page === last, onclick: go(last) }, 'Last'));
  }

  sort(c) {
    if (this.sorted === c.key) this.descending = !this.descending;
    else [this.sorted, this.descending] = [c.key, !c.names && c.unit !== 'time' && c.key !== 'number'];
    this.page = 0;
    this.update();
    this.table.querySelector(`[data-key="${CSS.escape(c.key)}"]`)?.focus();
  }

  // show marks a row, and turns to its page.
  show(row) {
    this.target = row;
    let at = this.order.indexOf(row);
    if (at < 0) {
      this.only.checked = this.inRange = false;
      this.setFilter('');
      at = this.order.indexOf(row);
    }
    this.page = Math.floor(Math.max(0, at) / pageRows);
    this.render();
  }

  // exported returns the rows of the filter with all columns, with the values of the record: units
  // are nanoseconds and bytes, times are in UTC.
  exported(each) {
    const columns = this.gcs.columns.filter((c) => c.group && c.known > 0);
    return [columns, this.order.map((i) => columns.map((c) => {
      const v = this.gcs.values(c.key)[i];
      if (Number.isNaN(v)) return null;
      if (c.names) return c.names[v];
      if (c.unit === 'time') return new Date(Math.round(page.sync + v / 1e6)).toISOString();
      return c.unit === 'flag' ? v === 1 : v;
    }))];
  }

  exportCSV() {
    const [columns, rows] = this.exported();
    const quote = (v) => v === null ? '' : /[",\n\r]|^[=+\-@]/.test(String(v)) && typeof v === 'string' ? '"' + v.replace(/"/g, '""') + '"' : String(v);
    const unit = (c) => c.unit && !['name', 'time', 'flag'].includes(c.unit) ? ` [${c.unit}]` : '';
    download('collections.csv', 'text/csv', [columns.map((c) => quote(c.key + unit(c))), ...rows.map((r) => r.map(quote))].map((r) => r.join(',')).join('\n') + '\n');
  }

  exportJSON() {
    const [columns, rows] = this.exported();
    const list = rows.map((r) => Object.fromEntries(r.flatMap((v, i) => v === null ? [] : [[columns[i].key, v]])));
    download('collections.json', 'application/json', '[\n' + list.map((x) => JSON.stringify(x)).join(',\n') + '\n]\n');
  }
}

function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const a = el('a', { href: url, download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
