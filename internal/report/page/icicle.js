// Trees as boxes: what retains what, and who allocates.

// An Icicle shows a tree as boxes, each below the one that contains it; a box that is chosen becomes
// as wide as all. One box at a time is in the order of the tab key, arrow keys go to others.
class Icicle {
  constructor(figure, tree, words) {
    this.figure = figure;
    this.tree = tree;
    this.words = words; // label, does, of, all, counted
    this.focus = tree;
    this.path = el('p', { class: 'icicle-path', 'aria-live': 'polite' });
    this.box = el('div', { class: 'icicle', role: 'group', 'aria-label': `Icicle of ${words.label}. Arrow keys go to other boxes, Enter enlarges one, Escape shows everything.` });
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
      const scale = n.bytes > 0 ? w / n.bytes : 0;
      for (const b of n.below || []) {
        const part = b.bytes * scale;
        if (part >= 2) todo.push([b, left, part, depth + 1]);
        left += part;
      }
    }
    this.box.style.height = (Math.max(...depths) + 1) * height + 'px';
    const rows = boxes.map(([n, x, w, depth]) => {
      const text = `${n.name} ${sizeText(n.bytes)}`;
      const b = el('button', { type: 'button', tabindex: n === this.focus ? 0 : -1, title: `${n.name}\n${sizeText(n.bytes)} ${this.words.does}, ${this.share(n)}\n${n.count > 0 ? n.count.toLocaleString('en') + ' ' + this.words.counted[n.count === 1 ? 0 : 1] : ''}`, 'aria-label': `${text}, ${this.share(n)}`, onclick: () => this.choose(n), onfocus: () => this.say(n) },
        w > 34 ? el('span', null, n.name) : null, ' ', w > 220 ? el('span', { class: 'icicle-size' }, sizeText(n.bytes)) : null);
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

  share(n) { return digits(100 * n.bytes / Math.max(1, this.tree.bytes)) + ' % of ' + this.words.of; }

  say(n) {
    const names = [];
    for (let x = n; x && x !== this.tree; x = x.above) names.unshift(x.name);
    this.path.textContent = `${sizeText(n.bytes)}, ${this.share(n)}: ${names.join(' › ') || this.words.all}`;
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
