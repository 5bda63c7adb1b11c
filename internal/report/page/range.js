// The time range that all charts share, and the brush that shows and changes it.

const range = {
  full: [0, 1], from: 0, to: 1, listeners: [],
  init(from, to) {
    this.full = to > from ? [from, to] : [from - 0.5, from + 0.5];
    [this.from, this.to] = this.full;
  },
  whole() { return this.from <= this.full[0] && this.to >= this.full[1]; },
  set(from, to) {
    const [low, high] = this.full;
    const least = Math.min(0.002, high - low);
    let length = Math.min(Math.max(to - from, least), high - low);
    from = Math.max(low, Math.min(from, high - length));
    if (from === this.from && from + length === this.to) return;
    this.from = from;
    this.to = from + length;
    for (const f of this.listeners) f();
  },
  all() { this.set(...this.full); },
  zoom(factor, at) {
    const center = at ?? (this.from + this.to) / 2;
    this.set(center - (center - this.from) * factor, center + (this.to - center) * factor);
  },
  pan(share) {
    const by = (this.to - this.from) * share;
    this.set(this.from + by, this.to + by);
  },
  // keys handles the keys that charts and the brush have in common.
  keys(e) {
    const actions = { '+': () => this.zoom(0.5), '=': () => this.zoom(0.5), '-': () => this.zoom(2), '0': () => this.all(), Escape: () => this.all() };
    if (!actions[e.key] || e.ctrlKey || e.metaKey || e.altKey) return false;
    actions[e.key]();
    e.preventDefault();
    return true;
  },
};

function makeBrush(pauses) {
  const box = byID('brush'), canvas = box.querySelector('canvas'), text = byID('range-text');
  const position = (seconds) => (seconds - range.full[0]) / (range.full[1] - range.full[0]);
  let longest = 1;
  for (const p of pauses) if (p.duration > longest) longest = p.duration;

  function draw() {
    const width = box.clientWidth, height = box.clientHeight, ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const g = canvas.getContext('2d');
    g.scale(ratio, ratio);
    const columns = new Float64Array(Math.max(1, width));
    for (const p of pauses) {
      const at = (ns) => Math.min(width - 1, Math.max(0, Math.floor(position(clock.seconds(ns)) * width)));
      for (let x = at(p.start), end = at(p.start + p.duration); x <= end; x++) if (p.duration > columns[x]) columns[x] = p.duration;
    }
    g.fillStyle = theme.muted;
    for (let x = 0; x < width; x++) {
      const h = Math.sqrt(columns[x] / longest) * (height - 6); // short pauses remain visible
      if (h > 0) g.fillRect(x, height - Math.max(1, h), 1, Math.max(1, h));
    }
    const a = position(range.from) * width, b = position(range.to) * width;
    g.fillStyle = theme.select;
    g.fillRect(a, 0, Math.max(2, b - a), height);
    g.fillStyle = theme.accent;
    g.fillRect(a, 0, 2, height);
    g.fillRect(Math.max(a, b - 2), 0, 2, height);
    const day = clock.day(range.from), sameDay = day === clock.day(range.to);
    const decimals = range.to - range.from < 10 ? 3 : 0;
    text.textContent = `${clock.relative ? '' : day + ' '}${clock.ofSeconds(range.from, decimals)} to ${sameDay ? '' : clock.day(range.to) + ' '}${clock.ofSeconds(range.to, decimals)} ${clock.zone}, ${durationText((range.to - range.from) * 1e9)}`;
    byID('range-out').disabled = byID('range-all').disabled = range.whole();
  }

  let drag = null;
  const at = (e) => range.full[0] + Math.min(1, Math.max(0, (e.clientX - box.getBoundingClientRect().left) / box.clientWidth)) * (range.full[1] - range.full[0]);
  box.addEventListener('pointerdown', (e) => {
    box.setPointerCapture(e.pointerId);
    const x = at(e);
    const inside = !range.whole() && x > range.from && x < range.to;
    drag = inside ? { move: x - range.from } : { from: x };
  });
  box.addEventListener('pointermove', (e) => {
    if (!drag) return;
    const x = at(e);
    if (drag.move !== undefined) range.set(x - drag.move, x - drag.move + range.to - range.from);
    else if (Math.abs(x - drag.from) > (range.full[1] - range.full[0]) / 500) range.set(Math.min(x, drag.from), Math.max(x, drag.from));
  });
  box.addEventListener('pointerup', () => { drag = null; });
  box.addEventListener('dblclick', () => range.all());
  box.addEventListener('keydown', (e) => {
    if (range.keys(e)) return;
    if (e.key === 'ArrowLeft' || e.key === 'ArrowRight') {
      range.pan(e.key === 'ArrowLeft' ? -0.2 : 0.2);
      e.preventDefault();
    }
  });
  byID('range-out').addEventListener('click', () => range.zoom(3));
  byID('range-all').addEventListener('click', () => range.all());
  range.listeners.push(draw);
  new ResizeObserver(draw).observe(box);
  theme.listeners.push(draw);
  byID('range').hidden = false;
  draw();
}
