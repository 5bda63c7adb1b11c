// Heap snapshots: an icicle of retained sizes, and tables that are sorted and filtered.

function makeHeaps(list) {
  list.forEach((snapshot, i) => {
    const section = document.querySelector(`[data-snapshot="${i}"]`);
    const icicle = section.querySelector('[data-icicle]');
    if (icicle) {
      new Icicle(icicle, snapshot.tree, { label: 'retained sizes', does: 'retained', of: 'what is reachable', all: 'all roots', counted: ['object', 'objects'] });
    }
    const number = (title, unit) => ({ title, unit });
    const growth = section.querySelector('[data-growth]');
    if (growth) new NameTable(growth, `Difference of snapshot ${i + 1}`, [number('objects more', '+'), number('bytes more', '+bytes'), number('bytes now', 'bytes')], snapshot.growth, 1);
    const retained = snapshot.tree ? [number('retained', 'bytes')] : [];
    new NameTable(section.querySelector('[data-types]'), `Types of snapshot ${i + 1}`, [number('objects', ''), number('bytes', 'bytes'), ...retained], snapshot.types, retained.length > 0 ? 2 : 1);
  });
}

const firstRows = 50; // firstTypes in figures.go

// A NameTable has a name and numbers in each row: [name, ...numbers].
class NameTable {
  constructor(box, label, columns, rows, sorted) {
    Object.assign(this, { columns, rows, sorted: sorted + 1, descending: true, all: false });
    const filter = el('input', { type: 'search', placeholder: 'part of a name', oninput: () => { this.filter = filter.value.toLowerCase(); this.render(); } });
    this.filter = '';
    this.count = el('span', { 'aria-live': 'polite' });
    this.table = el('table', { class: 'grid names' });
    this.more = el('button', { type: 'button', onclick: () => { this.all = true; this.render(); } });
    box.replaceChildren(el('div', { class: 'table-tools' }, el('label', null, 'Filter', filter), this.count), el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': label }, this.table), this.more);
    this.render();
  }

  text(v, unit) {
    const sign = v > 0 ? '+' : v < 0 ? '−' : '';
    switch (unit) {
      case 'bytes': return sizeText(v, false);
      case '+bytes': return sign + sizeText(Math.abs(v), false);
      case '+': return sign + Math.abs(v).toLocaleString('en');
      default: return v.toLocaleString('en');
    }
  }

  render() {
    const k = this.sorted, sign = this.descending ? -1 : 1;
    const list = this.rows.filter((r) => r[0].toLowerCase().includes(this.filter)).sort((a, b) => sign * (k === 0 ? a[0].localeCompare(b[0]) : a[k] - b[k]));
    const shown = this.all ? list : list.slice(0, firstRows);
    const head = (title, i) => el('th', { scope: 'col', class: i > 0 ? 'num' : null, 'aria-sort': k === i ? (this.descending ? 'descending' : 'ascending') : null },
      el('button', { type: 'button', class: 'quiet', onclick: () => {
        this.descending = this.sorted === i ? !this.descending : i > 0;
        this.sorted = i;
        this.render();
        this.table.querySelectorAll('thead button')[i < 1 ? this.columns.length : i - 1].focus();
      } }, title, k === i ? (this.descending ? ' ▾' : ' ▴') : ''));
    this.table.replaceChildren(
      el('thead', null, el('tr', null, this.columns.map((c, i) => head(c.title, i + 1)), head('type', 0))),
      el('tbody', null, shown.map((r) => el('tr', null, this.columns.map((c, i) => el('td', { class: 'num' }, this.text(r[i + 1], c.unit))), el('td', { class: 'name' }, r[0])))));
    this.count.textContent = `${list.length.toLocaleString('en')} of ${this.rows.length.toLocaleString('en')}`;
    this.more.hidden = shown.length === list.length;
    this.more.textContent = `Show all ${list.length.toLocaleString('en')}`;
  }
}
