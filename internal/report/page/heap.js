// Heap snapshots: the icicle of retained sizes, and tables that are sorted and filtered.

function makeHeaps(list) {
  list.forEach((snapshot, i) => {
    const section = document.querySelector(`[data-snapshot="${i}"]`);
    const icicle = section.querySelector('[data-icicle]');
    if (icicle) new Icicle(icicle, snapshot.tree);
    const number = (title, unit) => ({ title, unit });
    const growth = section.querySelector('[data-growth]');
    if (growth) new NameTable(growth, `Difference of snapshot ${i + 1}`, [number('objects more', '+'), number('bytes more', '+bytes'), number('bytes now', 'bytes')], snapshot.growth, 1);
    const retained = snapshot.tree ? [number('retained', 'bytes')] : [];
    new NameTable(section.querySelector('[data-types]'), `Types of snapshot ${i + 1}`, [number('objects', ''), number('bytes', 'bytes'), ...retained], snapshot.types, retained.length > 0 ? 2 : 1);
  });
}

// An Icicle shows a tree as boxes, each below the one that contains it; a box that is chosen becomes
// as wide as all. One box at a time is in the order of the tab key, arrow keys go to others.
class Icicle {
  constructor(figure, tree) {
    this.figure = figure;
    this.tree = tree;
    this.focus = tree;
    this.path = el('p', { class: 'icicle-path', 'aria-live': 'polite' });
    this.box = el('div', { class: 'icicle', role: 'group', 'aria-label': 'Icicle of retained sizes. Arrow keys go to other boxes, Enter enlarges one, Escape shows everything.' });
    figure.querySelector('.scroll')?.remove();
    figure.append(this.box, this.path);
    (function link(n, parent) { // parents of the nodes, without recursion
      const todo = [[n, parent]];
      while (todo.length > 0) {
        const [x, above] = todo.pop();
        x.above = above;
        for (const b of x.below || []) todo.push([b, x]);
      }
    })(tree, null);
    this.box.addEventListener('keydown', (e) => this.key(e));
    new ResizeObserver(() => this.draw()).observe(figure);
    this.draw();
  }

  draw() {
    const width = this.box.clientWidth, height = 24;
    if (width === 0) return;
    const boxes = [], depths = [];
    this.shown = new Map();
    const above = [];
    for (let n = this.focus.above; n; n = n.above) above.unshift(n);
    above.forEach((n, i) => boxes.push([n, 0, width, i]));
    const todo = [[this.focus, 0, width, above.length]];
    while (todo.length > 0) {
      const [n, x, w, depth] = todo.pop();
      boxes.push([n, x, w, depth]);
      depths.push(depth);
      let left = x;
      const scale = n.retained > 0 ? w / n.retained : 0;
      for (const b of n.below || []) {
        const part = b.retained * scale;
        if (part >= 2) todo.push([b, left, part, depth + 1]);
        left += part;
      }
    }
    this.box.style.height = (Math.max(...depths) + 1) * height + 'px';
    const rows = boxes.map(([n, x, w, depth]) => {
      const text = `${n.name} ${sizeText(n.retained)}`;
      const b = el('button', { type: 'button', tabindex: n === this.focus ? 0 : -1, title: `${n.name}\n${sizeText(n.retained)} retained, ${this.share(n)}\n${n.objects > 0 ? n.objects.toLocaleString('en') + (n.objects === 1 ? ' object' : ' objects') : ''}`, 'aria-label': `${text}, ${this.share(n)}`, onclick: () => this.choose(n), onfocus: () => this.say(n) },
        w > 34 ? el('span', null, n.name) : null, ' ', w > 220 ? el('span', { class: 'icicle-size' }, sizeText(n.retained)) : null);
      b.style.left = x + 'px';
      b.style.top = depth * height + 'px';
      b.style.width = Math.max(1, w - 1) + 'px';
      b.className = 'depth-' + (depth % 4) + (depth < above.length ? ' above' : '');
      this.shown.set(n, b);
      return b;
    });
    this.box.replaceChildren(...rows);
    this.say(this.focus);
  }

  share(n) { return digits(100 * n.retained / Math.max(1, this.tree.retained)) + ' % of what is reachable'; }

  say(n) {
    const names = [];
    for (let x = n; x && x !== this.tree; x = x.above) names.unshift(x.name);
    this.path.textContent = `${sizeText(n.retained)}, ${this.share(n)}: ${names.join(' › ') || 'all roots'}`;
  }

  choose(n) {
    this.focus = n === this.focus && n.above ? n.above : n;
    this.draw();
    this.shown.get(this.focus).focus();
  }

  key(e) {
    const at = [...this.shown].find(([, b]) => b === document.activeElement)?.[0];
    if (!at) return;
    const next = (list, by) => list[list.indexOf(at) + by];
    const siblings = (at.above?.below || [at]).filter((n) => this.shown.has(n));
    const to = { ArrowUp: () => at.above, ArrowDown: () => (at.below || []).find((n) => this.shown.has(n)), ArrowLeft: () => next(siblings, -1), ArrowRight: () => next(siblings, 1) }[e.key]?.();
    if (e.key === 'Escape') this.choose(this.tree);
    else if (to && this.shown.has(to)) this.shown.get(to).focus();
    else if (!e.key.startsWith('Arrow')) return;
    e.preventDefault();
  }
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
