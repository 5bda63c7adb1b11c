// The sheet that explains a collection.

class Sheet {
  constructor(gcs, explanations, goto, showTime) {
    this.gcs = gcs;
    this.list = explanations;
    this.index = new Map(page.explained.map((row, i) => [row, i]));
    this.dialog = byID('explanation');
    this.goto = goto;
    this.showTime = showTime;
    this.dialog.addEventListener('click', (e) => { if (e.target === this.dialog) this.dialog.close(); });
    this.dialog.addEventListener('keydown', (e) => {
      if (e.target.closest('input')) return;
      if (e.key === 'j' || e.key === 'k') this.step(e.key === 'j' ? 1 : -1);
    });
    this.dialog.addEventListener('close', () => {
      if (location.hash.startsWith('#gc-')) history.replaceState(null, '', location.pathname + location.search);
    });
  }

  step(by) {
    const to = this.row + by;
    if (to >= 0 && to < this.gcs.rows) this.open(to);
  }

  async open(row) {
    this.row = row;
    const gcs = this.gcs, number = gcs.cell(gcs.byKey.get('number'), row);
    const told = this.index.has(row) ? (await this.list())[this.index.get(row)] : null;
    const button = (text, f, disabled) => el('button', { type: 'button', onclick: f, disabled }, text);
    const content = [
      el('div', { class: 'sheet-head' },
        button('Previous', () => this.step(-1), row === 0), button('Next', () => this.step(1), row === gcs.rows - 1),
        button('Show in the charts', () => { this.dialog.close(); this.showTime(row); }), button('Show in the table', () => { this.dialog.close(); this.goto(row); }),
        el('span', { class: 'space' }), button('Close', () => this.dialog.close())),
      el('h2', { id: 'explanation-title' }, told ? told.title : `Collection ${number || 'without a number'}: ${gcs.cell(gcs.byKey.get('name'), row)} ${gcs.cell(gcs.byKey.get('type'), row)}`),
    ];
    if (told) content.push(...told.sections.flatMap((s) => this.section(s)));
    else content.push(el('p', null, 'This page explains the collections that findings name and those with the longest pauses.'), ...this.command(number));
    content.push(el('h3', null, 'All values'), el('dl', { class: 'values' }, gcs.columns.filter((c) => c.group).map((c) => [c, gcs.cell(c, row)]).filter(([, text]) => text !== '').map(([c, text]) => el('div', { title: c.doc }, el('dt', null, c.title), el('dd', null, text)))));
    this.dialog.replaceChildren(el('div', { class: 'sheet', tabindex: -1 }, content));
    if (!this.dialog.open) this.dialog.showModal();
    this.dialog.scrollTop = 0;
    if (number) history.replaceState(null, '', '#gc-' + number);
  }

  section(s) {
    if (!s.texts && !s.rows) return [];
    const table = s.rows ? el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': s.title }, el('table', { class: 'grid' },
      el('thead', null, el('tr', null, s.head.map((h, i) => i ? el('th', { scope: 'col', class: 'num' }, h) : el('td', null, h)))),
      el('tbody', null, s.rows.map((r) => el('tr', null, r.map((c, i) => el(i ? 'td' : 'th', i ? { class: 'num' } : { scope: 'row' }, c))))))) : null;
    return [s.title ? el('h3', null, s.title) : null, ...(s.texts || []).map((t) => el('p', null, t)), table];
  }

  command(number) {
    if (!page.command || !number) return [];
    const text = page.command + ' ' + number;
    return [el('p', null, 'This command explains it:'), el('div', { class: 'command' }, el('code', null, text))];
  }
}
